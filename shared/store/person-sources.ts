/**
 * The tables that can hold data of a person, and how their rows are read in order: for each bot, a number of rows after a
 * key, by an index. A table that is added to the database has to be added here, which a test of erasure shows.
 */

/** The kinds of rows, as answers name them. */
export type SourceKind =
  | 'user'
  | 'conversation'
  | 'message'
  | 'event'
  | 'state'
  | 'workflow'
  | 'log'
  | 'handover'
  | 'note'
  | 'tableRow'
  | 'file'
  | 'recurringEvent'
  | 'tableJob'
  | 'signal'
  | 'installation'
  | 'analytics'
  | 'auditRecord'

export interface PersonSource {
  kind: SourceKind
  /** The tables, of which `t` is the one with the row. */
  from: string
  /** SQL that names the bot `:botId`, or the parent `:parent`. */
  scope: string
  /** The columns of the order, each with its type. */
  key: readonly (readonly [column: string, type: 'timestamptz' | 'text' | 'bigint' | 'date'])[]
  /** SQL of the texts that are searched. */
  texts: readonly string[]
  /** SQL of a further condition that a row names the person by `:loose`. */
  also?: string
  /** SQL of a row that is the person's: it is erased without being asked for. */
  linked: string
  /** Rows that name the person are erased without being listed: the platform's own, short-lived or repeatable, or counters. */
  isTransient?: boolean
  /** SQL of a JSON object by which the row is found, for people and for `eraseRows`. */
  address: string
  /** SQL of the ids by which the table is read in parts, in order after `:parent`, one at a time. */
  parents?: string
}

/** SQL of whether a text names the person. */
export const naming = (text: string) =>
  `(case when ${text} ~* :loose then regexp_replace(${text}, :escapes, ' ', 'g') ~* :strict else false end)`

const byTime = [
  ['t.created_at', 'timestamptz'],
  ['t.id', 'text'],
] as const

/** SQL of an array of the names of those tags that name the person. */
const tagsNaming = (column: string) =>
  `array(select tag.key from jsonb_each_text(t.${column}) tag where tag.key || ' ' || tag.value ~* :strict)`

const tagged = `'tags', ${tagsNaming('tags')}, 'properties', ${tagsNaming('properties')}`

/** SQL of an array of the names of those columns that name the person. */
const columnsNaming = (...columns: string[]) =>
  `array_remove(array[${columns.map((column) => `case when t.${column} ~* :strict then '${column}' end`).join(', ')}], null)`

export const personSources: readonly PersonSource[] = [
  {
    kind: 'user',
    from: 'users t',
    scope: 't.bot_id = :botId',
    key: byTime,
    texts: ['t.name', 't.picture_url', 't.profile', 't.foreign_id', 't.tags::text', 't.properties::text'],
    linked: 't.id = any(:users::text[])',
    address: `jsonb_build_object('userId', t.id, ${tagged},
      'fields', ${columnsNaming('name', 'picture_url', 'profile', 'foreign_id')})`,
  },
  {
    kind: 'conversation',
    from: 'conversations t',
    scope: 't.bot_id = :botId',
    key: byTime,
    texts: ['t.foreign_id', 't.tags::text', 't.properties::text'],
    linked: 't.id = any(:conversations::text[])',
    address: `jsonb_build_object('conversationId', t.id, ${tagged}, 'fields', ${columnsNaming('foreign_id')})`,
  },
  {
    kind: 'message',
    from: 'messages t',
    scope: 't.bot_id = :botId',
    key: byTime,
    texts: ['t.payload::text', 't.metadata::text', 't.tags::text'],
    linked: 't.user_id = any(:users::text[]) or t.conversation_id = any(:conversations::text[])',
    address: `jsonb_build_object('conversationId', t.conversation_id, 'messageId', t.id)`,
  },
  {
    kind: 'event',
    from: 'events t',
    scope: 't.bot_id = :botId',
    key: byTime,
    texts: ['t.payload::text', 't.result::text', 't.runs::text', 't.failure_reason'],
    also: `exists (select from effects where event_id = t.id and ${naming('result::text')})
      or exists (select from model_contents where event_id = t.id and ${naming(`(prompt || ' ' || answer)`)})
      or exists (select from webhook_bodies where event_id = t.id and ${naming(`encode(bytes, 'escape')`)})`,
    linked: 't.user_id = any(:users::text[]) or t.conversation_id = any(:conversations::text[])',
    address: `jsonb_build_object('eventId', t.id, 'type', t.type)`,
  },
  {
    kind: 'state',
    from: 'states t',
    scope: 't.bot_id = :botId',
    key: [
      ['t.type', 'text'],
      ['t.owner_id', 'text'],
      ['t.name', 'text'],
      ['t.id', 'text'],
    ],
    texts: ['t.payload::text'],
    linked: `t.type = 'user' and t.owner_id = any(:users::text[])
      or t.type = 'conversation' and t.owner_id = any(:conversations::text[])`,
    address: `jsonb_build_object('stateId', t.id, 'type', t.type, 'ownerId', t.owner_id, 'name', t.name)`,
  },
  {
    kind: 'workflow',
    from: 'workflows t',
    scope: 't.bot_id = :botId',
    key: byTime,
    texts: ['t.input::text', 't.output::text', 't.tags::text', 't.failure_reason'],
    linked: 't.user_id = any(:users::text[])',
    address: `jsonb_build_object('workflowId', t.id, 'name', t.name)`,
  },
  {
    kind: 'log',
    from: 'logs t',
    scope: 't.bot_id = :botId',
    key: [
      ['t.created_at', 'timestamptz'],
      ['t.id', 'bigint'],
    ],
    texts: ['t.message'],
    linked: 't.conversation_id = any(:conversations::text[])',
    address: `jsonb_strip_nulls(jsonb_build_object('logId', t.id::text, 'time', t.created_at, 'eventId', t.event_id))`,
  },
  {
    kind: 'handover',
    from: 'handovers t',
    scope: 't.bot_id = :botId',
    key: byTime,
    texts: ['t.title', 't.description'],
    linked: 't.conversation_id = any(:conversations::text[])',
    address: `jsonb_build_object('handoverId', t.id, 'conversationId', t.conversation_id)`,
  },
  {
    kind: 'note',
    from: 'handovers join handover_notes t on t.handover_id = handovers.id',
    scope: 'handovers.bot_id = :botId',
    key: [
      ['handovers.created_at', 'timestamptz'],
      ['handovers.id', 'text'],
      ['t.id', 'text'],
    ],
    texts: ['t.text'],
    linked: 'handovers.conversation_id = any(:conversations::text[])',
    address: `jsonb_build_object('handoverId', t.handover_id, 'noteId', t.id)`,
  },
  {
    kind: 'tableRow',
    parents: 'select id from bot_tables where bot_id = :botId and id > :parent order by id limit 1',
    from: 'table_rows t',
    scope: 't.table_id = :parent',
    key: [['t.id', 'bigint']],
    texts: ['t.data::text', 't.computed::text', 't.key'],
    linked: 'false',
    address: `jsonb_build_object('tableId', t.table_id, 'rowId', t.id)`,
  },
  {
    kind: 'file',
    from: 'files t',
    scope: 't.bot_id = :botId',
    key: byTime,
    texts: ['t.key', 't.tags::text', 't.metadata::text', 't.failed_status_reason'],
    also: `exists (select from passages where file_id = t.id and ${naming(`(array_to_string(breadcrumb, ' ') || ' ' || passages.text)`)})`,
    linked: 't.user_id = any(:users::text[])',
    address: `jsonb_build_object('fileId', t.id)`,
  },
  {
    kind: 'recurringEvent',
    from: 'recurring_events t',
    scope: 't.bot_id = :botId',
    key: [['t.name', 'text']],
    texts: ['t.name', 't.payload::text', 't.last_failure_reason'],
    linked: 'false',
    address: `jsonb_build_object('name', t.name)`,
  },
  {
    kind: 'tableJob',
    from: 'table_jobs t',
    scope: 't.bot_id = :botId',
    key: [['t.id', 'text']],
    texts: ['t.errors::text', 't.failed_status_reason'],
    linked: 'false',
    isTransient: true,
    address: `jsonb_build_object('jobId', t.id)`,
  },
  {
    kind: 'signal',
    from: 'conversation_signals t',
    scope: 't.bot_id = :botId',
    key: [
      ['t.created_at', 'timestamptz'],
      ['t.conversation_id', 'text'],
    ],
    texts: ['t.signal::text'],
    linked: 'false',
    isTransient: true,
    address: `jsonb_build_object('conversationId', t.conversation_id, 'time', t.created_at)`,
  },
  {
    kind: 'installation',
    from: 'installations t',
    scope: 't.bot_id = :botId',
    key: [['t.id', 'text']],
    texts: ['t.status_reason'],
    linked: 'false',
    isTransient: true,
    address: `jsonb_build_object('installationId', t.id)`,
  },
  {
    kind: 'analytics',
    from: 'analytics t',
    scope: 't.bot_id = :botId',
    key: [
      ['t.name', 'text'],
      ['t.day', 'date'],
    ],
    texts: ['t.name'],
    linked: 'false',
    // The address of a finding would have the name, which is all that names the person.
    isTransient: true,
    address: `jsonb_build_object('name', t.name, 'day', t.day)`,
  },
]

/** The tables of a workspace, whose id is in the place of a bot's. */
export const workspaceSources: readonly PersonSource[] = [
  {
    kind: 'auditRecord',
    from: 'audit_records t',
    scope: 't.workspace_id = :botId',
    key: byTime,
    texts: ['t.fields', 't.resource_id', 't.resource_name'],
    linked: 'false',
    isTransient: true,
    address: `jsonb_build_object('auditRecordId', t.id, 'fields', ${columnsNaming('fields', 'resource_id', 'resource_name')})`,
  },
]
