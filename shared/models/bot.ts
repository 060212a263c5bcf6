import { closedObject, type Infer } from '../schema.ts'
import type { BotRow, BotVersionRow, IntegrationRow, RecurringEventRow, Installation } from './tables.ts'
import { permissions } from './bot-code.ts'
import { botDefinition, type BotDefinition } from './bot-definition.ts'
import { limits } from '../config/code-limits.ts'
import { anyObject } from './definition.ts'
import { installedPlugin, type DescribedPlugins } from './plugin.ts'
import { completeRetention, retention, retentionInEffect, type Retention } from './retention.ts'
import { installation, toInstallation, type InstallationView } from './installation.ts'

/** A bot, as lists show it. */
export const botSummary = closedObject({
  id: { type: 'string' },
  createdAt: { type: 'string', format: 'date-time' },
  updatedAt: { type: 'string', format: 'date-time' },
  name: { type: 'string' },
  deployedAt: {
    type: 'string',
    format: 'date-time',
    description: 'The time when the deployed version was uploaded; without one, the time when the bot was created.',
  },
})

export function toBotSummary(row: BotRow): Infer<typeof botSummary> {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    name: row.name,
    deployedAt: row.deployed_at.toISOString(),
  }
}

export const version = closedObject(
  {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    kind: { enum: ['native', 'sdk'], description: 'A module of hooks and actions, or a bundle of the public SDK.' },
    hash: { type: 'string', description: 'SHA-256 of the uploaded code, in hexadecimal.' },
    hooks: { type: 'array', items: { type: 'string' } },
    actions: { type: 'array', items: { type: 'string' } },
  },
  { disabledReason: { type: 'string', description: 'Why the platform suspended the version; absent while it runs.' } },
)

export const keepPrompts = {
  type: 'boolean',
  description:
    'Whether each event keeps what it asked language models, and their answers, for the timeline. False unless given: ' +
    'they contain what users said.',
} as const

/** A bot in full. Published clients read nested fields without checks, so those fields are always present. */
export const bot = {
  type: 'object',
  additionalProperties: false,
  required: [
    ...botSummary.required,
    'permissions',
    'limits',
    'keepPrompts',
    'retention',
    'retentionInEffect',
    'integrations',
    'plugins',
    'user',
    'conversation',
    'message',
    'states',
    'configuration',
    'events',
    'recurringEvents',
    'subscriptions',
    'actions',
    'tags',
    'dev',
    'secrets',
    'signingSecret',
    'alwaysAlive',
    'status',
    'medias',
    'type',
  ],
  properties: {
    ...botDefinition,
    ...botSummary.properties,
    permissions,
    limits,
    keepPrompts,
    retention,
    retentionInEffect,
    version: { ...version, description: 'The deployed version; absent until code is uploaded.' },
    integrations: { type: 'object', additionalProperties: installation, description: 'By alias.' },
    plugins: { type: 'object', additionalProperties: installedPlugin, description: 'By alias.' },
    recurringEvents: { type: 'object', additionalProperties: anyObject },
    secrets: { type: 'array', items: { type: 'string' }, description: 'The names of the secrets.' },
    signingSecret: { type: 'string' },
    status: { enum: ['active'] },
  },
} as const

export type Bot = Infer<typeof bot>

/** The rows that make up a bot in full. */
export interface BotParts {
  bot: BotRow
  version?: Pick<BotVersionRow, 'id' | 'kind' | 'hash' | 'hooks' | 'actions' | 'created_at'> | undefined
  installations: Installation[]
  /** The installed integrations. */
  integrations: Pick<IntegrationRow, 'id' | 'name' | 'version' | 'definition' | 'code_id' | 'url'>[]
  /** The reasons why code of the bot is disabled, by the id of the code. */
  disabledReasons: Map<string, string>
  recurringEvents: RecurringEventRow[]
  plugins: DescribedPlugins
  secretNames: string[]
}

/** @param operators the retention of bots without their own */
export function toBot(
  { bot: row, version: deployed, ...parts }: BotParts,
  view: InstallationView,
  operators: Required<Retention>,
): Bot {
  const integrations = new Map(parts.integrations.map((integration) => [integration.id, integration]))
  const disabled = (codeId: string) => {
    const disabledReason = parts.disabledReasons.get(codeId)
    return disabledReason === undefined ? {} : { disabledReason }
  }
  const toInstalled = (one: Installation) => {
    const integration = integrations.get(one.integration_id ?? '')
    return { ...toInstallation(one, integration, view), ...(integration && disabled(integration.code_id)) }
  }
  return {
    ...completeDefinition(row.definition, parts.plugins),
    ...toBotSummary(row),
    permissions: row.permissions,
    limits: row.limits,
    keepPrompts: row.keeps_prompts,
    retention: row.retention,
    retentionInEffect: completeRetention(row.retention, operators),
    ...(deployed && {
      version: {
        id: deployed.id,
        createdAt: deployed.created_at.toISOString(),
        kind: deployed.kind,
        hash: deployed.hash,
        hooks: deployed.hooks,
        actions: deployed.actions,
        ...disabled(deployed.id),
      },
    }),
    integrations: Object.fromEntries(parts.installations.map((one) => [one.alias, toInstalled(one)])),
    plugins: parts.plugins.plugins,
    recurringEvents: Object.fromEntries(parts.recurringEvents.map((one) => [one.name, toRecurringEvent(one)])),
    secrets: parts.secretNames,
    signingSecret: '',
    status: 'active',
  }
}

function completeDefinition(definition: BotDefinition, plugins: DescribedPlugins) {
  return {
    tags: {},
    dev: false,
    alwaysAlive: false,
    medias: [],
    type: 'studio' as const,
    ...definition,
    states: { ...plugins.states, ...definition.states },
    events: { ...plugins.events, ...definition.events },
    actions: { ...plugins.actions, ...definition.actions },
    user: { tags: { ...plugins.userTags, ...definition.user?.tags } },
    conversation: { tags: { ...plugins.conversationTags, ...definition.conversation?.tags } },
    message: { tags: { ...plugins.messageTags, ...definition.message?.tags } },
    configuration: { data: {}, schema: {}, ...definition.configuration },
    subscriptions: { events: null, ...definition.subscriptions },
  }
}

function toRecurringEvent(row: RecurringEventRow) {
  return {
    type: row.type,
    payload: row.payload,
    schedule: { cron: row.cron },
    failedAttempts: row.failed_attempts,
    lastFailureReason: row.last_failure_reason,
  }
}
