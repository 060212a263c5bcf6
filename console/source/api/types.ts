import type { Infer } from '../../../shared/schema.ts'
import type { Bot } from '../../../shared/models/bot.ts'
import type { botVersion as versionSchema, botVersionWithCode } from '../../../shared/models/bot-version.ts'
import type { logLine } from '../../../shared/models/log-line.ts'
import type { account as accountSchema } from '../../../shared/models/account.ts'
import type { invitation as invitationSchema } from '../../../shared/models/invitation.ts'
import type { member as memberSchema } from '../../../shared/models/member.ts'
import type { workspace as workspaceSchema } from '../../../shared/models/workspace.ts'
import type { auditRecord } from '../../../shared/models/audit-record.ts'
import type { apiKey } from '../../../shared/models/api-key.ts'

/** Shapes of the Admin API, from its own schemas where the console reads a resource as a whole. */
export type { Bot }
export type Version = Infer<typeof versionSchema>
export type VersionWithCode = Infer<typeof botVersionWithCode>
export type LogLine = Infer<typeof logLine>
export type Account = Infer<typeof accountSchema>
export type Invitation = Infer<typeof invitationSchema>
export type Member = Infer<typeof memberSchema>
export type Workspace = Infer<typeof workspaceSchema>
export type AuditRecord = Infer<typeof auditRecord>
export type Token = Infer<typeof apiKey>
export type Page = { nextToken?: string }

export const windows = ['1h', '24h', '7d'] as const
export type Window = (typeof windows)[number]

export interface Outcomes {
  processed: number
  failed: number
  ignored: number
  retried: number
}

interface Health {
  events: Outcomes
  /** From 0 to 1; null where nothing was handled. */
  errorRate: number | null
  p50: number | null
  p95: number | null
  waiting: number
  oldestWaitingAt?: string
  versionId?: string
  disabledReason?: string
  lastEventAt?: string
}

export interface ListedHealth extends Health {
  botId: string
  name: string
  /** Of the last hour, oldest first. */
  eventsPerMinute: number[]
}

export interface Bucket extends Outcomes {
  at: string
  putBack: number
  p50: number | null
  p95: number | null
  queueP50: number | null
  queueP95: number | null
}

export interface BotHealth extends Health {
  window: Window
  from: string
  to: string
  bucketSeconds: number
  queueP50: number | null
  queueP95: number | null
  buckets: Bucket[]
}

export type EventStatus = 'scheduled' | 'canceled' | 'pending' | 'processed' | 'ignored' | 'failed'

export interface EventSummary {
  id: string
  type: string
  direction?: string
  status: EventStatus
  preview?: string
  conversationId?: string
  userId?: string
  messageId?: string
  integration?: string
  attempts: number
  failureReason?: string | null
  hook?: string
  versionId?: string
  isReplayable: boolean
  createdAt: string
  startedAt?: string
  endedAt?: string
  queueMilliseconds?: number
  milliseconds?: number
  cpuMilliseconds?: number
}

export interface Step {
  kind: string
  name: string
  /** Milliseconds since the run began. */
  start: number
  milliseconds: number
  cpuMilliseconds?: number
  status?: number
  depth: number
}

export interface Run {
  attempt: number
  startedAt: string
  outcome: string
  versionId?: string
  queueMilliseconds?: number
  milliseconds: number
  cpuMilliseconds?: number
  error?: { reason: string; hook?: string; message: string }
  steps: Step[]
  stepsLeftOut: number
}

export interface EventDetail extends EventSummary {
  payload: Record<string, unknown>
  result?: unknown
  availableAt?: string
  message?: Record<string, unknown>
  runs: Run[]
  error?: { message: string; stack: string }
  logs: Pick<LogLine, 'timestamp' | 'level' | 'message'>[]
}

export interface ErrorGroup {
  id: string
  message: string
  example: string
  words: string
  hook?: string
  count: number
  firstAt: string
  lastAt: string
  eventIds: string[]
  versionIds: string[]
  types: string[]
  replayable: number
}

export interface Registration {
  eventId: string
  type: string
  status: EventStatus
  failureReason?: string | null
  createdAt: string
  endedAt?: string
  milliseconds?: number
}

export interface Installation {
  id: string
  alias: string
  name: string
  version: string
  integrationId?: string
  enabled: boolean
  status: string
  statusReason?: string | null
  disabledReason?: string
  identifier?: string
  schedule?: string
  nextRegisterAt?: string
  registerFailures: number
  registrations: Registration[]
}

export interface WorkerSeen {
  id: string
  host: string
  startedAt: string
  seenAt: string
  slots: number
  inUse: number
}

export interface QueueState {
  waiting: number
  oldestWaitingAt?: string
  scheduled: number
  retrying: number
  failed: number
  bots: { botId: string; name: string; waiting: number; oldestWaitingAt?: string }[]
  platform?: {
    backEnd: string
    jobs: { waiting: number; active: number; delayed: number; failed: number }
    oldestJobAt?: string
    workers: WorkerSeen[]
  }
}
