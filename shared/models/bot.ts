import type { Infer } from '../schema.ts'
import { sharedEncryptionKey } from '../secrets.ts'
import type { Installation } from '../store/installations.ts'
import type { BotRow, BotVersionRow } from '../store/tables.ts'
import { permissions } from './bot-code.ts'
import { chatConfiguration, withoutSecrets } from './chat-configuration.ts'

const summaryFields = {
  id: { type: 'string' },
  createdAt: { type: 'string', format: 'date-time' },
  updatedAt: { type: 'string', format: 'date-time' },
  name: { type: 'string' },
  deployedAt: {
    type: 'string',
    format: 'date-time',
    description: 'When the version in service was uploaded; the time of creation while there is none.',
  },
} as const

/** A bot as it is listed. */
export const botSummary = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'createdAt', 'updatedAt', 'name', 'deployedAt'],
  properties: summaryFields,
} as const

export function toBotSummary(row: BotRow): Infer<typeof botSummary> {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    name: row.name,
    deployedAt: row.deployed_at.toISOString(),
  }
}

const version = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'createdAt', 'hash', 'hooks', 'actions'],
  properties: {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    hash: { type: 'string', description: 'SHA-256 of the uploaded code, in hexadecimal.' },
    hooks: { type: 'array', items: { type: 'string' } },
    actions: { type: 'array', items: { type: 'string' } },
  },
} as const

const installation = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'name', 'enabled', 'webhookId', 'webhookUrl', 'configuration', 'status', 'createdAt', 'updatedAt'],
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    enabled: { type: 'boolean' },
    webhookId: { type: 'string' },
    webhookUrl: { type: 'string', description: 'For the chat integration, the address that chat clients connect to.' },
    configuration: {
      ...chatConfiguration,
      description: 'Its encryptionKey and webhookSecret are shown to administrators and owners only.',
    },
    sharedEncryptionKey: {
      type: 'string',
      description:
        'Signs the chat’s user keys while no encryptionKey is configured. Shown to administrators and owners only.',
    },
    status: { enum: ['registered'] },
    createdAt: { type: 'string', format: 'date-time' },
    updatedAt: { type: 'string', format: 'date-time' },
  },
} as const

/** A bot in full. */
export const bot = {
  type: 'object',
  additionalProperties: false,
  required: [...botSummary.required, 'permissions', 'integrations'],
  properties: {
    ...summaryFields,
    permissions,
    version: { ...version, description: 'The version in service; absent until code is uploaded.' },
    integrations: { type: 'object', additionalProperties: installation, description: 'By alias.' },
  },
} as const

export type Bot = Infer<typeof bot>

/** A row of each kind that a bot in full is made of. */
export interface BotParts {
  bot: BotRow
  version?: Pick<BotVersionRow, 'id' | 'hash' | 'hooks' | 'actions' | 'created_at'> | undefined
  installations: Installation[]
}

/** How a bot is shown. */
export interface BotView {
  /** The platform's own address. */
  baseUrl: string
  /** The platform's own secret. */
  secret: string
  /** Whether the one it is shown to may see the secrets of the installations. */
  showsSecrets: boolean
}

export function toBot({ bot: row, version: deployed, installations }: BotParts, view: BotView): Bot {
  return {
    ...toBotSummary(row),
    permissions: row.permissions,
    ...(deployed && {
      version: {
        id: deployed.id,
        createdAt: deployed.created_at.toISOString(),
        hash: deployed.hash,
        hooks: deployed.hooks,
        actions: deployed.actions,
      },
    }),
    integrations: Object.fromEntries(installations.map((one) => [one.alias, toInstallation(one, view)])),
  }
}

function toInstallation(row: Installation, view: BotView): Infer<typeof installation> {
  const { baseUrl, secret, showsSecrets } = view
  const showsSharedKey = showsSecrets && row.integration === 'chat' && row.configuration.encryptionKey === undefined
  return {
    id: row.id,
    name: row.integration,
    enabled: true,
    webhookId: row.webhook_id,
    webhookUrl: `${baseUrl}/chat/${row.webhook_id}`,
    configuration: showsSecrets ? row.configuration : withoutSecrets(row.configuration),
    ...(showsSharedKey && { sharedEncryptionKey: sharedEncryptionKey(secret, row.id) }),
    status: 'registered',
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
