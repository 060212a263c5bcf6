/** One row of each table, as PostgreSQL returns it; declared to knex so that `db('messages')` is typed. */

import type { OwnLimits } from '../config/code-limits.ts'
import type { HostedProvider } from '../config/models-settings.ts'
import type { StoreName } from '../config/s3-settings.ts'
import type { CodeActionDefinitions } from './code-action-definitions.ts'
import type { DayCounts } from './bot-day.ts'
import type { RunRecord } from './run-record.ts'
import type { ScriptCompilations, ScriptOutcome } from './script.ts'
import type { Column, ComputedState } from './column.ts'
import type { Retention } from './retention.ts'

/** A workspace's public profile. */
export interface WorkspaceProfile {
  about?: string
  profilePicture?: string
  contactEmail?: string
  website?: string
  socialAccounts?: string[]
  isPublic?: boolean
}

export interface WorkspaceRow {
  id: string
  name: string
  handle: string | null
  profile: WorkspaceProfile
  created_at: Date
  updated_at: Date
}

export interface PreferenceRow {
  /** Of an account or of a workspace; the other is null. */
  account_id: string | null
  workspace_id: string | null
  key: string
  value: unknown
  updated_at: Date
}

export interface AccountRow {
  id: string
  name: string
  /** In lower case. */
  email: string | null
  picture_url: string | null
  created_at: Date
}

export const roles = ['agent', 'viewer', 'developer', 'administrator', 'owner'] as const
/** A member's role; `includesRole` compares roles. */
export type Role = (typeof roles)[number]

export interface MemberRow {
  workspace_id: string
  account_id: string
  role: Role
  /** In lower case, as the workspace knows the member; null for the creator of the workspace. */
  email: string | null
  /** SHA-256 of the secret of the newest invitation. */
  invitation: Buffer | null
  invitation_expires_at: Date | null
  /** Null until the invitation is accepted: the account has no token then, and the member no permissions. */
  accepted_at: Date | null
  /** Whether claims of the OpenID provider gave the role, and take it away. */
  from_claims: boolean
  created_at: Date
}

/** The account of a person who signs in with an OpenID provider. */
export interface IdentityRow {
  issuer: string
  subject: string
  account_id: string
  created_at: Date
}

/** A sign-in of a browser. */
export interface SessionRow {
  id: string
  /** SHA-256 of the secret in the cookie. */
  hash: Buffer
  account_id: string
  created_at: Date
  expires_at: Date
}

export interface Permissions {
  /** Hosts that the code may request. */
  net?: string[]
}

export interface BotRow {
  id: string
  workspace_id: string
  name: string
  version_id: string | null
  permissions: Permissions
  /** Limits that differ from the operator's. */
  limits: OwnLimits
  /** Whether events keep what they asked language models. */
  keeps_prompts: boolean
  /** Days after which rows are deleted, where they differ from the operator's. */
  retention: Retention
  /** The declarations of a bot made with the public SDK, as the Admin API shows them. */
  definition: Record<string, unknown>
  /** By name, encrypted. */
  secrets: string | null
  /** The address of the code of a bot under development, which runs there and not here; null for others. */
  url: string | null
  deployed_at: Date
  /** The start of its deletion, which may have been interrupted; null otherwise. */
  deletion_began_at: Date | null
  created_at: Date
  updated_at: Date
}

export interface RetryPolicy {
  /** Upper bound of runs, the first included. */
  attempts: number
  /** Milliseconds before the second run; the delay doubles with each further run. */
  backoff: number
}

/** The kind of code: a module for this platform, or a bundle of the public SDK. */
export type CodeKind = 'native' | 'sdk'

export interface BotVersionRow {
  id: string
  bot_id: string
  kind: CodeKind
  hash: string
  /** Null for code that is not moved yet: then the row itself has it. */
  bundle_id: string | null
  source: string | null
  script: string | null
  source_map: string | null
  /** The author's files, as JSON. */
  files: string | null
  /** The flows, as JSON; null when the bot has none. */
  flows: string | null
  /** Whether the code exports the flows; otherwise they were uploaded beside it. */
  has_flows_in_code: boolean
  /** The positions of nodes in the picture of the flows, as JSON. They have no effect on runs. */
  layouts: string | null
  /** Whether one of the flows begins with a new conversation. */
  starts_with_conversation: boolean
  /** Nodes of earlier versions that it has under other names, as `flow/node`; null for none. */
  renamed_nodes: Readonly<Record<string, string>> | null
  hooks: string[]
  actions: string[]
  retry: RetryPolicy | null
  /** Descriptions of the code's own actions; null when it has none. */
  action_definitions: CodeActionDefinitions | null
  /** Set by an author to identify the version. */
  name: string | null
  description: string | null
  /** The account that uploaded the version; null when unknown or deleted. */
  author_id: string | null
  created_at: Date
}

export interface TokenRow {
  id: string
  hash: Buffer
  kind: 'personal' | 'bot' | 'integration'
  account_id: string | null
  bot_id: string | null
  integration_id: string | null
  note: string
  created_at: Date
}

export const schedules = [
  'hourly',
  'daily',
  'weekly',
  'bi-weekly',
  'monthly',
  'bi-monthly',
  'quarterly',
  'yearly',
] as const
export type Schedule = (typeof schedules)[number]

export type InstallationStatus =
  | 'registration_pending'
  | 'registered'
  | 'registration_failed'
  | 'unregistration_pending'
  | 'unregistered'
  | 'unregistration_failed'

export interface InstallationRow {
  id: string
  bot_id: string
  integration: string
  alias: string
  webhook_id: string
  /** Encrypted; null until something is configured. */
  configuration: string | null
  has_webhook: boolean
  /** Null for the chat, which is part of the platform. */
  integration_id: string | null
  enabled: boolean
  configuration_type: string | null
  /** Channels of the integration that are disabled on this bot. */
  disabled_channels: string[]
  status: InstallationStatus
  status_reason: string | null
  /** The installation is deleted once its integration has unregistered; null when it is to stay. */
  removal_requested_at: Date | null
  /** The workspace of the integration; null for the chat. */
  integration_workspace_id: string | null
  /** Identifies the installation among all of its integration, in any version. */
  identifier: string | null
  sandbox_identifiers: Record<string, never> | null
  /** The period at which `register()` is called, and the start of the first period. */
  schedule: Schedule | null
  schedule_from: Date | null
  /** The next call of `register()`; null, when there is a schedule, until a worker has computed it. */
  next_register_at: Date | null
  /** Failures of `register()` since its last success. */
  register_failures: number
  created_at: Date
  updated_at: Date
}

/** One version of an integration. */
export interface IntegrationRow {
  id: string
  workspace_id: string
  name: string
  version: string
  /** The complete declaration, as the Admin API shows it. */
  definition: Record<string, unknown>
  permissions: Permissions
  kind: CodeKind
  /** The immutable id of the code. */
  code_id: string
  hash: string
  /** Null for code that is not moved yet, which the row itself has, and for code at an address. */
  bundle_id: string | null
  source: string | null
  script: string | null
  source_map: string | null
  /** By name, encrypted. */
  secrets: string | null
  /** The address of the code of an integration under development, which runs there and not here; null for others. */
  url: string | null
  created_at: Date
  updated_at: Date
}

/** An open tunnel to an author's machine. */
interface TunnelRow {
  workspace_id: string
  /** Chosen by the author's command line. */
  id: string
  /** The account whose key opened it. */
  account_id: string
  /** Identifies the connection that holds the tunnel. */
  holder: string
  seen_at: Date
}

export interface InterfaceRow {
  id: string
  workspace_id: string
  name: string
  version: string
  visibility: 'public' | 'unlisted' | 'private'
  definition: Record<string, unknown>
  created_at: Date
  updated_at: Date
}

export interface PluginRow extends InterfaceRow {
  node_code: string
  browser_code: string
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
  /** Shared between the bot and its integrations. */
  properties: Record<string, string>
  /** Keys that name no user are valid for this one unless they are older; null when their age does not matter. */
  keys_since: Date | null
  /** When a conversation that retention has deleted was last active. */
  active_at: Date | null
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
  /** Shared between the bot and its integrations. */
  properties: Record<string, string>
  clock: Date
  sequence: number
  /** When its newest message was stored; without messages, when it was created. */
  messaged_at: Date
  /** The ten minutes of that. */
  messaged_in: Date
  /** The handover in progress; null while the bot answers. */
  handover_id: string | null
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
  origin: 'synthetic' | null
  created_at: Date
  updated_at: Date
}

export type EventStatus = 'scheduled' | 'canceled' | 'pending' | 'processed' | 'ignored' | 'failed'

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
  /** The installation of the integration whose code handles the event; null for the bot's own code. */
  installation_id: string | null
  workflow_id: string | null
  started_at: Date | null
  ended_at: Date | null
  created_at: Date
  /** The records of the last runs, oldest first. */
  runs: RunRecord[] | null
  /** The handover because of which no code handled the event; null for other events. */
  handover_id: string | null
}

export const handoverStatuses = ['pending', 'assigned', 'resolved', 'expired'] as const
export type HandoverStatus = (typeof handoverStatuses)[number]

/** A time in which people answer in a conversation, and the bot's code does not run. */
export interface HandoverRow {
  id: string
  bot_id: string
  conversation_id: string
  status: HandoverStatus
  title: string | null
  description: string | null
  /** `integration`: begun through the inbox, and the bot's code handles the events of its conversation. */
  requested_by: 'bot' | 'member' | 'integration'
  /** The member who answers; null while it is pending. */
  account_id: string | null
  created_at: Date
  assigned_at: Date | null
  first_reply_at: Date | null
  expires_at: Date | null
  ended_at: Date | null
  /** The event whose run began it through the inbox. */
  event_id: string | null
  /** The conversation of that event, with which the session is deleted. */
  source_conversation_id: string | null
}

/** A text that a member wrote about a handover. */
export interface HandoverNoteRow {
  id: string
  handover_id: string
  account_id: string | null
  name: string
  text: string
  created_at: Date
}

/** A request to erase the data of a person. */
export interface DataRequestRow {
  id: string
  workspace_id: string
  account_id: string | null
  bot_id: string | null
  erases_findings: boolean
  status: (typeof dataRequestStatuses)[number]
  subject: string | null
  stage: DataRequestStage
  position: Record<string, unknown>
  erased: Record<string, number>
  searched: string
  failure_reason: string | null
  run: number
  due_at: Date
  created_at: Date
  completed_at: Date | null
}

export const dataRequestStatuses = ['pending', 'in_progress', 'completed', 'failed'] as const

/** The stages of a data request, in their order (`worker/erasure/stages.ts`). */
export type DataRequestStage = 'users' | 'conversations' | 'runs' | 'search' | 'findings'

/** A row that names the person of a data request. */
export interface DataFindingRow {
  request_id: string
  id: string
  kind: string
  bot_id: string
  address: Record<string, unknown>
}

/** A text that members of a workspace answer with repeatedly. */
export interface CannedReplyRow {
  id: string
  workspace_id: string
  shortcut: string
  text: string
  created_at: Date
}

/** The URL that is told what happens in the handovers of a workspace. */
export interface InboxWebhookRow {
  workspace_id: string
  url: string
  /** Encrypted. */
  secret: string | null
  failures: number
  due_at: Date
}

/** News that wait to be sent to that URL. */
export interface InboxNewsRow {
  /** A bigint, which the driver returns as text. */
  id: string
  workspace_id: string
  handover_id: string
  type: string
  account_id: string | null
  message_id: string | null
  created_at: Date
}

/** The user of a built-in chat as whom a member answers. */
export interface MemberUserRow {
  installation_id: string
  /** Null after the deletion of the account. */
  account_id: string | null
  user_id: string
}

/** The member who wrote a message. */
export interface MemberMessageRow {
  message_id: string
  handover_id: string
  /** Null after the deletion of the account. */
  account_id: string | null
  name: string
}

export type StateType = 'bot' | 'user' | 'conversation' | 'workflow' | 'integration'

export interface StateRow {
  id: string
  bot_id: string
  type: StateType
  owner_id: string
  name: string
  /** The installed integration that owns the state; null for the bot. */
  installation_id: string | null
  payload: Record<string, unknown>
  /** PostgreSQL's bigint arrives as text. */
  expiry: string | null
  expires_at: Date | null
  created_at: Date
  updated_at: Date
}

export interface JournalRow {
  event_id: string
  operation: string
  ordinal: number
  input_hash: string
  result: unknown
  created_at: Date
}

export type WorkflowStatus =
  | 'pending'
  | 'in_progress'
  | 'failed'
  | 'completed'
  | 'listening'
  | 'paused'
  | 'timedout'
  | 'cancelled'

export interface WorkflowRow {
  id: string
  bot_id: string
  name: string
  status: WorkflowStatus
  /** The event in whose handling it is in progress. */
  event_id: string | null
  /** The last event that names it, other than its own updates, since it was last continued. */
  heard_event_id: string | null
  /** The time from which it may be continued, if it is still in progress then, or listening and has heard an event. */
  continues_at: Date | null
  input: Record<string, unknown>
  output: Record<string, unknown>
  tags: Record<string, string>
  parent_id: string | null
  conversation_id: string | null
  user_id: string | null
  failure_reason: string | null
  timeout_at: Date
  completed_at: Date | null
  created_at: Date
  updated_at: Date
}

/** Counts of a bot on a day that is over. */
export interface BotDayRow {
  bot_id: string
  /** In UTC. */
  day: Date
  counts: DayCounts
}

/** A group of errors whose failures up to a time are dismissed. */
export interface DismissedIssueRow {
  bot_id: string
  issue_id: string
  dismissed_at: Date
}

export interface RecurringEventRow {
  bot_id: string
  name: string
  type: string
  payload: Record<string, unknown>
  cron: string
  next_at: Date
  /** Of the firings before the last one, whose outcome is read from its event. */
  failed_attempts: number
  last_failure_reason: string | null
  last_event_id: string | null
}

export interface AnalyticsRow {
  bot_id: string
  name: string
  /** In UTC. */
  day: Date
  /** PostgreSQL's bigint arrives as text. */
  count: string
}

export interface WebhookBodyRow {
  event_id: string
  part: number
  bytes: Buffer
  created_at: Date
}

export interface LogRow {
  id: string
  bot_id: string
  event_id: string | null
  conversation_id: string | null
  /** The integration whose code wrote the line; null for the bot's own and for the platform's. */
  integration_id: string | null
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  created_at: Date
}

/** The compiled code of an upload. */
export interface BundleRow {
  /** A hash of the upload. */
  id: string
  kind: CodeKind
  source: string
  /** A CommonJS script, which isolates run; null where it is the source. */
  script: string | null
  source_map: string
  /** The source map as it was uploaded; null for code without one. */
  given_map: string | null
  /** The author's files, as JSON. */
  files: string | null
  used_at: Date
}

export interface InspectionRow {
  id: string
  workspace_id: string
  /** The id of the bundle of the upload; null for an inspection that an api of an older version requests. */
  bundle_id: string | null
  /** Null where the bundle exists already. */
  source: string | null
  /** The separately uploaded source map, if there was one. */
  given_map: string | null
  limits: OwnLimits
  /** The secrets that the code finds, encrypted; null for an inspection that an api of an older version requests. */
  secrets: string | null
  outcome: unknown
  kind: CodeKind
  /** As for a version. */
  flows: string | null
  has_flows_in_code: boolean
  created_at: Date
}

/** A run of a script of an integration. */
export interface ScriptRunRow {
  id: string
  integration_id: string
  script: string
  input: Record<string, unknown>
  outcome: ScriptOutcome | null
  created_at: Date
}

/** A compilation of uploaded scripts. */
export interface ScriptCheckRow {
  id: string
  /** By the paths of their fields in the definition. */
  scripts: Record<string, string>
  outcome: ScriptCompilations | null
  created_at: Date
}

/** A link that begins the authorization of an installation, once. */
export interface AuthorizationRow {
  token_hash: Buffer
  installation_id: string
  bot_id: string
  link: string
  created_at: Date
  expires_at: Date
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

export interface DisabledCodeRow {
  bot_id: string
  code_id: string
  reason: string
  created_at: Date
}

export interface WorkerRow {
  id: string
  host: string
  started_at: Date
  seen_at: Date
  slots: number
  in_use: number
}

export interface AuditRecordRow {
  id: string
  workspace_id: string | null
  account_id: string
  account_email: string | null
  operation: string
  fields: string
  resource_id: string | null
  resource_name: string | null
  outcome: 'unknown' | 'done'
  created_at: Date
}

/** The content of a file, or of an upload in progress. */
export interface FileObjectRow {
  id: string
  /** Null after the deletion of the bot. */
  bot_id: string | null
  store: StoreName
  /** In bytes, as text; null until all bytes are written. */
  size: string | null
  /** In hexadecimal digits. */
  sha256: string | null
  created_at: Date
  completed_at: Date | null
}

export interface FilePartRow {
  object_id: string
  part: number
  bytes: Buffer
}

export const fileStatuses = [
  'upload_pending',
  'upload_failed',
  'upload_completed',
  'indexing_pending',
  'indexing_failed',
  'indexing_completed',
] as const
export type FileStatus = (typeof fileStatuses)[number]

export const accessPolicies = ['public_content', 'integrations'] as const
export type AccessPolicy = (typeof accessPolicies)[number]

/** A file of a bot. Its content is an object of `file_objects`. */
export interface FileRow {
  id: string
  bot_id: string
  /** The caller that made the newest upsert. */
  owner_type: 'bot' | 'integration' | 'user'
  owner_integration: string | null
  owner_alias: string | null
  user_id: string | null
  /** The id of the installation that keeps it; empty for the bot and its users. */
  key_space: string
  key: string
  /** The number of its upserts. */
  generation: number
  status: FileStatus
  failed_status_reason: string | null
  /** Null until the content is there. */
  object_id: string | null
  /** In bytes, as text. */
  declared_size: string
  /** In bytes, as text; null until the content is there. */
  size: string | null
  /** In hexadecimal digits. */
  sha256: string | null
  content_type: string
  tags: Record<string, string>
  metadata: Record<string, unknown>
  access_policies: AccessPolicy[]
  /** Whether it is to be found by searches. */
  index: boolean
  indexing: Record<string, unknown> | null
  /** Counts what is to be indexed: contents, and passages that are given. */
  index_generation: number
  /** When vectors of its passages are to be made; null when nothing is to be done. */
  embedding_due_at: Date | null
  embedding_attempts: number
  /** The model that its passages have vectors of. */
  embedded_model: string | null
  public_id: string | null
  /** The time of the newest upsert. */
  requested_at: Date
  expires_at: Date | null
  created_at: Date
  updated_at: Date
}

export interface KnowledgeBaseRow {
  id: string
  bot_id: string
  name: string
  tags: Record<string, string>
  created_at: Date
  updated_at: Date
}

/** A table of a bot. */
export interface BotTableRow {
  id: string
  bot_id: string
  name: string
  /** By the column's name. */
  columns: Record<string, Column>
  /** The names of columns that every row has a value of. */
  required: string[]
  /** The number in the field of the next new column. */
  next_field: number
  factor: number
  is_frozen: boolean
  key_column: string | null
  tags: Record<string, string>
  is_compute_enabled: boolean
  next_row_id: number
  row_count: number
  /** Since when rows wait for computed values. */
  recompute_due_at: Date | null
  /** The event of the action that computes some of them. */
  recompute_event_id: string | null
  created_at: Date
  updated_at: Date
}

/** A part of an indexed file. Columns that only statements read are not here. */
export interface PassageRow {
  id: string
  file_id: string
  /** In the order of the document. */
  position: number
  subtype: string
  breadcrumb: string[]
  page: number | null
  text: string
  /** The model of embeddings that makes no vector of it. */
  without_vector_of: string | null
}

/** The storage that the files of a bot use; kept by triggers. */
export interface FileUsageRow {
  bot_id: string
  /** PostgreSQL's bigint arrives as text. */
  files: string
  bytes: string
}

/** A row of a bot's table. */
export interface TableRowRow {
  table_id: string
  id: number
  /** By the fields of the columns. */
  data: Record<string, unknown>
  key: string | null
  /** Of its JSON. */
  bytes: number
  /** The fields whose computed values are out of date. */
  stale: string[]
  /** By field. */
  computed: Record<string, ComputedState>
  created_at: Date
  updated_at: Date
}

/** An import or export of a table. */
export interface TableJobRow {
  id: string
  bot_id: string
  table_id: string
  type: 'import' | 'export'
  status: 'pending' | 'in_progress' | 'finalizing' | 'completed' | 'failed'
  /** Of an export. */
  format: 'csv' | 'json' | null
  is_compressed: boolean | null
  /** In percent. */
  progress: number
  /** The records of the file that are stored, or failed. */
  done: number
  input_file_id: string | null
  input_generation: number | null
  output_file_id: string | null
  failed_status_reason: string | null
  errors: string[]
  run: number
  attempts: number
  created_at: Date
  updated_at: Date
}

/** A workspace's own key of a hosted provider of language models. */
export interface ModelKeyRow {
  id: string
  workspace_id: string
  provider: HostedProvider
  /** Encrypted. */
  key: string
  set_by: string | null
  set_at: Date
}

declare module 'knex/types/tables.js' {
  interface Tables {
    workspaces: WorkspaceRow
    accounts: AccountRow
    members: MemberRow
    identities: IdentityRow
    sessions: SessionRow
    bots: BotRow
    bot_versions: BotVersionRow
    bundles: BundleRow
    tokens: TokenRow
    installations: InstallationRow
    users: UserRow
    conversations: ConversationRow
    participants: ParticipantRow
    messages: MessageRow
    events: EventRow
    model_keys: ModelKeyRow
    handovers: HandoverRow
    handover_notes: HandoverNoteRow
    data_requests: DataRequestRow
    data_findings: DataFindingRow
    canned_replies: CannedReplyRow
    inbox_webhooks: InboxWebhookRow
    inbox_news: InboxNewsRow
    member_users: MemberUserRow
    member_messages: MemberMessageRow
    states: StateRow
    effects: JournalRow
    logs: LogRow
    inspections: InspectionRow
    script_runs: ScriptRunRow
    script_checks: ScriptCheckRow
    authorizations: AuthorizationRow
    large_signals: LargeSignalRow
    conversation_signals: ConversationSignalRow
    webhook_cursors: WebhookCursorRow
    integrations: IntegrationRow
    interfaces: InterfaceRow
    plugins: PluginRow
    workflows: WorkflowRow
    recurring_events: RecurringEventRow
    analytics: AnalyticsRow
    preferences: PreferenceRow
    dismissed_issues: DismissedIssueRow
    bot_days: BotDayRow
    webhook_bodies: WebhookBodyRow
    disabled_code: DisabledCodeRow
    audit_records: AuditRecordRow
    workers: WorkerRow
    tunnels: TunnelRow
    file_objects: FileObjectRow
    file_parts: FilePartRow
    files: FileRow
    knowledge_bases: KnowledgeBaseRow
    file_usage: FileUsageRow
    bot_tables: BotTableRow
    table_rows: TableRowRow
    table_jobs: TableJobRow
  }
}

/** An installation with its decrypted configuration. Contains secrets: never log it or return it whole. */
export type Installation = Omit<InstallationRow, 'configuration'> & { configuration: Record<string, unknown> }
