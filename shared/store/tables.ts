/** One row of each table, as PostgreSQL gives it; declared to knex so that `db('messages')` is typed. */

export interface WorkspaceRow {
  id: string
  name: string
  created_at: Date
  updated_at: Date
}

export interface AccountRow {
  id: string
  name: string
  created_at: Date
}

export const roles = ['viewer', 'developer', 'administrator', 'owner'] as const
/** What a member may do in a workspace; each role may do all that those before it may. */
export type Role = (typeof roles)[number]

export interface MemberRow {
  workspace_id: string
  account_id: string
  role: Role
  created_at: Date
}

export interface Permissions {
  /** Hosts that the bot's code may reach. */
  net?: string[]
}

export interface BotRow {
  id: string
  workspace_id: string
  name: string
  version_id: string | null
  permissions: Permissions
  deployed_at: Date
  created_at: Date
  updated_at: Date
}

export interface RetryPolicy {
  /** Runs in all, the first included. */
  attempts: number
  /** Milliseconds before the second run; each further wait is twice the one before. */
  backoff: number
}

export interface BotVersionRow {
  id: string
  bot_id: string
  hash: string
  source: string
  script: string
  source_map: string
  hooks: string[]
  actions: string[]
  retry: RetryPolicy | null
  created_at: Date
}

export interface TokenRow {
  id: string
  hash: Buffer
  kind: 'personal' | 'bot'
  account_id: string | null
  bot_id: string | null
  note: string
  created_at: Date
}

export interface InstallationRow {
  id: string
  bot_id: string
  integration: string
  alias: string
  webhook_id: string
  /** Encrypted; null until something is configured. */
  configuration: string | null
  has_webhook: boolean
  created_at: Date
  updated_at: Date
}

export interface UserRow {
  id: string
  bot_id: string
  installation_id: string | null
  foreign_id: string | null
  name: string | null
  picture_url: string | null
  profile: string | null
  tags: Record<string, string>
  created_at: Date
  updated_at: Date
}

export interface ConversationRow {
  id: string
  bot_id: string
  installation_id: string
  foreign_id: string | null
  owner_id: string | null
  channel: string
  tags: Record<string, string>
  clock: Date
  sequence: number
  created_at: Date
  updated_at: Date
}

export interface ParticipantRow {
  conversation_id: string
  user_id: string
  bot_id: string
  created_at: Date
}

export interface MessageRow {
  id: string
  bot_id: string
  conversation_id: string
  user_id: string
  type: string
  payload: Record<string, unknown>
  metadata: Record<string, unknown> | null
  tags: Record<string, string>
  direction: 'incoming' | 'outgoing'
  created_at: Date
  updated_at: Date
}

export type EventStatus = 'pending' | 'processed' | 'ignored' | 'failed'

export interface EventRow {
  id: string
  bot_id: string
  mailbox: string
  conversation_id: string | null
  user_id: string | null
  message_id: string | null
  integration: string | null
  type: string
  direction: 'incoming' | 'outgoing'
  payload: Record<string, unknown>
  status: EventStatus
  attempt: number
  failures: number
  available_at: Date
  failure_reason: string | null
  result: unknown
  started_at: Date | null
  ended_at: Date | null
  created_at: Date
}

export type StateType = 'bot' | 'user' | 'conversation'

export interface StateRow {
  id: string
  bot_id: string
  type: StateType
  owner_id: string
  name: string
  payload: Record<string, unknown>
  /** PostgreSQL's bigint arrives as text. */
  expiry: string | null
  expires_at: Date | null
  created_at: Date
  updated_at: Date
}

export interface EffectRow {
  event_id: string
  operation: string
  ordinal: number
  input_hash: string
  result: unknown
  created_at: Date
}

export interface LogRow {
  id: string
  bot_id: string
  event_id: string | null
  conversation_id: string | null
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  created_at: Date
}

export interface InspectionRow {
  id: string
  workspace_id: string
  script: string
  outcome: unknown
  created_at: Date
}

export interface LargeSignalRow {
  id: string
  body: string
  created_at: Date
}

export interface ConversationSignalRow {
  conversation_id: string
  bot_id: string
  created_at: Date
  signal: unknown
}

export interface WebhookCursorRow {
  conversation_id: string
  bot_id: string
  delivered: Date
  latest: Date
  failures: number
  due_at: Date
}

declare module 'knex/types/tables.js' {
  interface Tables {
    workspaces: WorkspaceRow
    accounts: AccountRow
    members: MemberRow
    bots: BotRow
    bot_versions: BotVersionRow
    tokens: TokenRow
    installations: InstallationRow
    users: UserRow
    conversations: ConversationRow
    participants: ParticipantRow
    messages: MessageRow
    events: EventRow
    states: StateRow
    effects: EffectRow
    logs: LogRow
    inspections: InspectionRow
    large_signals: LargeSignalRow
    conversation_signals: ConversationSignalRow
    webhook_cursors: WebhookCursorRow
  }
}
