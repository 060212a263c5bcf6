import { query, type Database } from './database.ts'
import type { SourceKind } from './person-sources.ts'

/** SQL that removes the tags and properties that an address names. */
const withoutTags = `tags = t.tags - array(select jsonb_array_elements_text(given.address -> 'tags')),
  properties = t.properties - array(select jsonb_array_elements_text(given.address -> 'properties')), updated_at = now()`

/** SQL that removes the values of those columns that an address names. */
function without(...columns: string[]): string {
  return columns
    .map(
      (column) =>
        `${column} = case when jsonb_exists(given.address -> 'fields', '${column}') then null else t.${column} end`,
    )
    .join(', ')
}

/** The statement that erases rows of a kind by their addresses, in `given`; or the part of a row that names the person. */
const statements: Record<SourceKind, string> = {
  user: `update users t set ${withoutTags}, ${without('name', 'picture_url', 'profile', 'foreign_id')}
    from given where t.bot_id = :botId and t.id = given.address ->> 'userId'`,
  conversation: `update conversations t set ${withoutTags}, ${without('foreign_id')}
    from given where t.bot_id = :botId and t.id = given.address ->> 'conversationId'`,
  message: `delete from messages t using given where t.bot_id = :botId and t.id = given.address ->> 'messageId'`,
  event: `delete from events t using given where t.bot_id = :botId and t.id = given.address ->> 'eventId'`,
  state: `delete from states t using given where t.bot_id = :botId and t.id = given.address ->> 'stateId'`,
  workflow: `delete from workflows t using given where t.bot_id = :botId and t.id = given.address ->> 'workflowId'`,
  log: `delete from logs t using given where t.bot_id = :botId and t.id = (given.address ->> 'logId')::bigint`,
  handover: `update handovers t set title = null, description = null
    from given where t.bot_id = :botId and t.id = given.address ->> 'handoverId'`,
  note: `delete from handover_notes t using given, handovers
    where t.id = given.address ->> 'noteId' and handovers.id = t.handover_id and handovers.bot_id = :botId`,
  tableRow: `delete from table_rows t using given, bot_tables
    where bot_tables.id = given.address ->> 'tableId' and bot_tables.bot_id = :botId
      and t.table_id = bot_tables.id and t.id = (given.address ->> 'rowId')::integer`,
  file: `delete from files t using given where t.bot_id = :botId and t.id = given.address ->> 'fileId'`,
  recurringEvent: `delete from recurring_events t using given
    where t.bot_id = :botId and t.name = given.address ->> 'name'`,
  tableJob: `update table_jobs t set errors = '{}', failed_status_reason = case when failed_status_reason is not null then 'Erased' end
    from given where t.bot_id = :botId and t.id = given.address ->> 'jobId'`,
  analytics: `delete from analytics t using given where t.bot_id = :botId and t.name = given.address ->> 'name'
    and t.day = (given.address ->> 'day')::date`,
  signal: `delete from conversation_signals t using given
    where t.bot_id = :botId and t.conversation_id = given.address ->> 'conversationId'
      and t.created_at = (given.address ->> 'time')::timestamptz`,
  // The ids of users stay: a record says who did what to which row.
  auditRecord: `update audit_records t set
      fields = case when jsonb_exists(given.address -> 'fields', 'fields') then 'erased' else t.fields end,
      resource_id = case when jsonb_exists(given.address -> 'fields', 'resource_id') and t.resource_id !~ '^[a-z]+_[0-9A-Z]{26}$'
        then 'erased' else t.resource_id end,
      resource_name = case when jsonb_exists(given.address -> 'fields', 'resource_name') then null else t.resource_name end
    from given where t.workspace_id = :botId and t.id = given.address ->> 'auditRecordId'`,
  installation: `update installations t set status_reason = null
    from given where t.bot_id = :botId and t.id = given.address ->> 'installationId'`,
}

/**
 * Erases rows of one kind, with what belongs to them, such as an event's journal, log lines and webhook body.
 *
 * @param addresses as the source of that kind makes them; rows that are gone are left out
 * @returns the number of erased rows, and the objects that no file refers to any more
 */
export async function eraseRows(
  transaction: Database,
  kind: SourceKind,
  botId: string,
  addresses: Record<string, unknown>[],
): Promise<{ erased: number; objectIds: string[] }> {
  if (addresses.length === 0) return { erased: 0, objectIds: [] }
  const returned = kind === 'file' ? 't.object_id' : kind === 'event' ? 't.id' : 'null::text'
  const rows = await query<{ id: string | null }>(
    transaction,
    `with given as materialized (select value as address from jsonb_array_elements(:addresses))
     ${statements[kind]} returning ${returned} as id`,
    { botId, addresses: JSON.stringify(addresses) },
  )
  const ids = rows.flatMap(({ id }) => id ?? [])
  if (kind === 'event') await eraseOfEvents(transaction, botId, ids)
  return { erased: rows.length, objectIds: kind === 'file' ? ids : [] }
}

/** Erases what refers to events without a foreign key. */
export async function eraseOfEvents(transaction: Database, botId: string, eventIds: string[]): Promise<void> {
  if (eventIds.length === 0) return
  await query(
    transaction,
    `with bodies as (delete from webhook_bodies where event_id = any(:eventIds::text[]))
     delete from logs where event_id = any(:eventIds::text[]) and bot_id = :botId`,
    { botId, eventIds },
  )
}
