import { closedObject } from '../schema.ts'
import type { CodeActionDefinitions } from './code-action-definitions.ts'
import type { CodeKind, RetryPolicy } from './tables.ts'
import { hostWithPort } from '../config/granted-host.ts'
import { megabyte } from '../units.ts'

/** The stages of an event's handling at which a bot's hooks run, in the order in which they run. */
export const incomingMessageStages = ['beforeIncomingMessage', 'afterIncomingMessage'] as const
export const incomingEventStages = ['beforeIncomingEvent', 'afterIncomingEvent'] as const
/** The stage after the flows of a conversation have been ended: by the card `end`, or by `endFlow`. */
export const conversationEndStage = 'afterConversationEnd'
export const turnEndStage = 'afterTurnEnd'

/** Every hook that a bot may declare; those for outgoing messages and actions run during the bot's calls. */
export const hookNames = [
  ...incomingMessageStages,
  ...incomingEventStages,
  'beforeOutgoingMessage',
  'afterOutgoingMessage',
  'beforeCallAction',
  'afterCallAction',
  conversationEndStage,
  turnEndStage,
] as const

/** Upper bound of the code of one bot or integration. */
export const codeLimit = 20 * megabyte

/** The source map of a bundle, which workers do not read. */
export const sourceMap = {
  type: 'string',
  maxLength: 16 * 1024 * 1024,
  description:
    'The source map of `code` as JSON, for a bundle without an inline source map. Errors then name the ' +
    'author’s own files. Only with `code`.',
} as const

/** The value of `export const retry`: how many times an event whose hook throws is run, and the delay between runs. */
export const retryPolicy = closedObject(
  { attempts: { type: 'integer', minimum: 1, maximum: 10 } },
  { backoff: { type: 'integer', minimum: 0, maximum: 600_000, default: 1000 } },
) satisfies object

/** The declarations that an inspection found in code. */
export interface BotDeclaration {
  hooks: string[]
  actions: string[]
  /** Those of an integration's functions `register`, `unregister` and `handler` that the code exports. */
  exports: string[]
  channels: string[]
  retry?: RetryPolicy
  actionDefinitions?: CodeActionDefinitions
  /** Warnings to those who deploy the code. */
  warnings?: string[]
}

/** The schema of the warnings in the answer to an upload of code. */
export const warnings = {
  type: 'array',
  items: { type: 'string' },
  description: 'Warnings about the code, which is deployed all the same.',
} as const

/** The result of an inspection. */
export type InspectionOutcome =
  | ({ status: 'accepted' } & BotDeclaration)
  | {
      status: 'refused'
      /** `LimitExceeded`: the upload exceeds a limit of inspections. */
      type: 'InvalidPayload' | 'LimitExceeded'
      message: string
      /** The position of the fault in the code, or the exceeded limit. */
      metadata: Record<string, unknown>
    }

/** The parts of compiled code that are stored with the version; its bundle has the others. */
export interface CompiledCode {
  kind: CodeKind
  bundleId: string
  /** The flows as JSON, if the bot has some; the text of a function in code stands as its expression. */
  flows: string | null
  /** Whether the code exports the flows; otherwise they were uploaded beside it. */
  hasFlowsInCode: boolean
}

export const permissions = closedObject(
  {},
  {
    net: {
      type: 'array',
      maxItems: 100,
      items: {
        type: 'string',
        pattern: `^${hostWithPort}$`,
        description: 'A host without a scheme or a path, with or without a port from 1 to 65535.',
      },
      description:
        'Hosts that the code may request: `api.example.com`, `*.example.com` for all its subdomains, or `*` for all ' +
        'public hosts. Ports other than 80 and 443 must be named: `api.example.com:8443`.',
    },
  },
)
