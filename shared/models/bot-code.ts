import { closedObject } from '../schema.ts'
import type { CodeKind, RetryPolicy } from './tables.ts'
import { grantedHost } from '../config/granted-host.ts'

/** The stages of handling something, at which a bot's hooks run; in the order they run. */
export const incomingMessageStages = ['beforeIncomingMessage', 'afterIncomingMessage'] as const
export const incomingEventStages = ['beforeIncomingEvent', 'afterIncomingEvent'] as const
export const turnEndStage = 'afterTurnEnd'

/** Every hook that a bot may declare; those around outgoing messages and actions run where the bot calls. */
export const hookNames = [
  ...incomingMessageStages,
  ...incomingEventStages,
  'beforeOutgoingMessage',
  'afterOutgoingMessage',
  'beforeCallAction',
  'afterCallAction',
  turnEndStage,
] as const

/** The longest code of one bot or integration. */
export const codeLimit = 4 * 1024 * 1024

/** The source map of a bundle, which a worker never sees. */
export const sourceMap = {
  type: 'string',
  maxLength: 16 * 1024 * 1024,
  description:
    'The source map of `code` as JSON, where it is a bundle and does not carry the map itself: errors then name the ' +
    'author’s own files. Given with `code` only.',
} as const

/** What `export const retry` may say: how often an event whose hook throws is tried, and how long after. */
export const retryPolicy = closedObject(
  { attempts: { type: 'integer', minimum: 1, maximum: 10 } },
  { backoff: { type: 'integer', minimum: 0, maximum: 600_000, default: 1000 } },
) satisfies object

/**
 * The modules that a bundle of the public SDK may ask for in an isolate, by their names without `node:`. They do as much
 * as such bundles need to load and to call the platform; what is not here cannot be had.
 */
export const sdkModules: ReadonlySet<string> = new Set([
  'assert',
  'buffer',
  'crypto',
  'events',
  'fs',
  'http',
  'http2',
  'https',
  'net',
  'os',
  'path',
  'process',
  'stream',
  'tls',
  'tty',
  'url',
  'util',
  'zlib',
  // Asked for within try and catch, and missed by none.
  'supports-color',
])

/** What code turned out to declare when a worker evaluated it. */
export interface BotDeclaration {
  hooks: string[]
  actions: string[]
  /** The functions of an integration that are no actions: of `register`, `unregister` and `handler`. */
  exports: string[]
  channels: string[]
  retry?: RetryPolicy
}

/** What a worker says of code that it compiled and evaluated. */
export type InspectionOutcome =
  | ({ status: 'accepted' } & BotDeclaration)
  | {
      status: 'refused'
      /** `LimitExceeded`: it takes more than an upload may take. */
      type: 'InvalidPayload' | 'LimitExceeded'
      message: string
      /** Where the code is at fault, or which limit it exceeds. */
      metadata: Record<string, unknown>
    }

/** Code as a worker compiled it. */
export interface CompiledCode {
  kind: CodeKind
  /** What isolates run: a CommonJS script. */
  script: string
  /** JSON that leads positions of the script back to the source; empty where they are the same. */
  sourceMap: string
  /** The author's files as JSON, where the source map carries them. */
  files: string | null
}

export const permissions = closedObject(
  {},
  {
    net: {
      type: 'array',
      maxItems: 100,
      items: { type: 'string', pattern: `^${grantedHost}$` },
      description:
        'Hosts that the code may reach: `api.example.com`, `*.example.com` for all below it, or `*` for all public ' +
        'ones. Ports other than 80 and 443 have to be named: `api.example.com:8443`.',
    },
  },
)
