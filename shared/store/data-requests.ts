import type { DescribedDataRequestRow } from '../models/data-request.ts'
import type { DataFindingRow, DataRequestRow, DataRequestStage } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import { page, toPage, type Page, type PageRequest } from './pagination.ts'

/** Requests to erase the data of a person, which workers carry out. */

export type NewDataRequest = Pick<
  DataRequestRow,
  'id' | 'workspace_id' | 'account_id' | 'bot_id' | 'erases_findings' | 'subject'
>

export async function insertDataRequest(db: Database, request: NewDataRequest): Promise<DataRequestRow> {
  const [row] = await db('data_requests').insert(request).returning('*')
  return row!
}

/**
 * SQL for the findings of requests, with `where` to follow. Those of a bot that has moved to another workspace are no longer
 * the request's: its workspace may neither see nor erase them.
 */
const ownFindings = `data_findings join data_requests requests on requests.id = request_id
  join bots on bots.id = data_findings.bot_id and bots.workspace_id = requests.workspace_id`

/** SQL for the columns of a described request, of which `userIds` are none before its first stage has ended. */
const described = `data_requests.*,
  array(select id from data_request_ids where request_id = data_requests.id and kind = 'user' order by id) as user_ids,
  (select count(*)::integer from ${ownFindings} where request_id = data_requests.id) as findings`

export async function findDataRequest(
  db: Database,
  workspaceId: string,
  id: string,
): Promise<DescribedDataRequestRow | undefined> {
  const [row] = await query<DescribedDataRequestRow>(
    db,
    `select ${described} from data_requests where workspace_id = :workspaceId and id = :id`,
    { workspaceId, id },
  )
  return row
}

export async function pageOfDataRequests(
  db: Database,
  workspaceId: string,
  request: PageRequest,
): Promise<Page<DescribedDataRequestRow>> {
  const rows: DescribedDataRequestRow[] = await db('data_requests')
    .where({ workspace_id: workspaceId })
    .select(db.raw(described))
    .modify((select) => page(select, request))
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

/** Findings of a request in the order of their ids. @param after the id of the last one of the previous page */
export function listFindings(
  db: Database,
  requestId: string,
  { after = '', limit }: { after?: string | undefined; limit: number },
): Promise<DataFindingRow[]> {
  return query(
    db,
    `select data_findings.* from ${ownFindings}
     where request_id = :requestId and data_findings.id > :after order by data_findings.id limit :limit`,
    { requestId, after, limit },
  )
}

/**
 * The requests that are being carried out in the data of a bot, of its workspace and of another one to which it may move.
 * Requests are made under the lock of their workspace, so there are no further ones while a transaction has both.
 */
export async function listDataRequestsOfBot(
  transaction: Database,
  botId: string,
  workspaceIds: string[],
): Promise<Pick<DataRequestRow, 'id' | 'workspace_id'>[]> {
  return query(
    transaction,
    `select id, workspace_id from data_requests
     where workspace_id = any(:workspaceIds) and status in ('pending', 'in_progress') and (bot_id is null or bot_id = :botId)
     order by created_at limit 10`,
    { botId, workspaceIds },
  )
}

/** Has the findings of a completed request erased. @returns whether the request is completed */
export async function beginErasingFindings(db: Database, id: string): Promise<boolean> {
  const rows = await query(
    db,
    `update data_requests set status = 'pending', stage = 'findings', position = '{}', completed_at = null,
       erases_findings = true, due_at = now()
     where id = :id and status = 'completed' returning id`,
    { id },
  )
  return rows.length > 0
}

/** Time after which a claim without progress is over, and another worker continues. */
const leaseSeconds = 60

/** Claims a request that waits, of all workspaces. Undefined when there is none. */
export async function claimDataRequest(db: Database): Promise<DataRequestRow | undefined> {
  const [row] = await query<DataRequestRow>(
    db,
    `update data_requests set status = 'in_progress', run = run + 1, due_at = now() + interval '${leaseSeconds} seconds'
     where id = (
       select id from data_requests where status in ('pending', 'in_progress') and due_at <= now()
       order by due_at limit 1 for update skip locked
     ) returning *`,
    {},
  )
  return row
}

/** Another worker has claimed the request, or it is gone: this run may write nothing. */
export class StaleRequestError extends Error {
  override name = 'StaleRequestError'
}

/** A change of a request by its run. */
export interface RequestProgress {
  stage: DataRequestStage | 'completed'
  position: Record<string, unknown>
  /** Numbers of rows that this step has erased, by kind. */
  erased?: Record<string, number>
  /** Rows that this step has read. */
  searched?: number
  /** Seconds until the next step; a worker continues at once without. */
  pauseSeconds?: number
}

/**
 * Stores how far a run has come, in the transaction of its step.
 *
 * @throws StaleRequestError
 */
export async function advanceDataRequest(
  transaction: Database,
  { id, run }: Pick<DataRequestRow, 'id' | 'run'>,
  { stage, position, erased = {}, searched = 0, pauseSeconds }: RequestProgress,
): Promise<DataRequestRow> {
  const isOver = stage === 'completed'
  const [row] = await query<DataRequestRow>(
    transaction,
    `update data_requests set stage = coalesce(:stage, stage), position = :position, searched = searched + :searched,
       erased = (
         select coalesce(jsonb_object_agg(kind, number), '{}') from (
           select kind, sum(number::bigint) as number from (
             select * from jsonb_each_text(erased) union all select * from jsonb_each_text(:erased)
           ) as counted (kind, number) group by kind
         ) sums
       ),
       failure_reason = null, due_at = now() + :seconds * interval '1 second',
       status = case when :isOver then 'completed' else status end,
       completed_at = case when :isOver then now() end,
       subject = case when :isOver then null else subject end
     where id = :id and run = :run and status = 'in_progress' returning *`,
    {
      id,
      run,
      stage: isOver ? null : stage,
      position: JSON.stringify(position),
      searched,
      erased: JSON.stringify(erased),
      seconds: pauseSeconds ?? leaseSeconds,
      isOver,
    },
  )
  if (!row) throw new StaleRequestError()
  if (isOver) {
    await query(transaction, `delete from data_request_ids where request_id = :id and kind = 'conversation'`, { id })
  }
  return row
}

/** Lets a request wait after a failure. @param reason without contents of rows */
export async function pauseDataRequest(
  db: Database,
  { id, run }: Pick<DataRequestRow, 'id' | 'run'>,
  { seconds, reason }: { seconds: number; reason: string | null },
): Promise<void> {
  await query(
    db,
    `update data_requests set due_at = now() + :seconds * interval '1 second', failure_reason = :reason
     where id = :id and run = :run and status = 'in_progress'`,
    { id, run, seconds, reason },
  )
}

/** Ends a request that cannot be carried out, before it has erased anything. @param reason for the person who asked for it */
export async function failDataRequest(
  db: Database,
  { id, run }: Pick<DataRequestRow, 'id' | 'run'>,
  reason: string,
): Promise<void> {
  await query(
    db,
    `with failed as (
       update data_requests set status = 'failed', failure_reason = :reason, subject = null, completed_at = now()
       where id = :id and run = :run and status = 'in_progress' returning id
     )
     delete from data_request_ids using failed where request_id = failed.id`,
    { id, run, reason },
  )
}

/** An id of the person. */
export interface PersonId {
  id: string
  bot_id: string
}

/** The users, or the conversations, that a request has found to be the person's. */
export function personIds(db: Database, requestId: string, kind: 'user' | 'conversation'): Promise<PersonId[]> {
  return query(
    db,
    'select id, bot_id from data_request_ids where request_id = :requestId and kind = :kind order by id',
    { requestId, kind },
  )
}

export async function insertPersonIds(
  transaction: Database,
  requestId: string,
  kind: 'user' | 'conversation',
  ids: PersonId[],
): Promise<void> {
  if (ids.length === 0) return
  await query(
    transaction,
    `insert into data_request_ids (request_id, kind, id, bot_id)
     select :requestId, :kind, id, bot_id from jsonb_to_recordset(:ids) as given (id text, bot_id text)
     on conflict do nothing`,
    { requestId, kind, ids: JSON.stringify(ids) },
  )
}

export async function insertFindings(
  transaction: Database,
  requestId: string,
  findings: Omit<DataFindingRow, 'request_id'>[],
): Promise<void> {
  if (findings.length === 0) return
  await query(
    transaction,
    `insert into data_findings (request_id, id, kind, bot_id, address)
     select :requestId, id, kind, bot_id, address
     from jsonb_to_recordset(:findings) as given (id text, kind text, bot_id text, address jsonb)
     on conflict do nothing`,
    { requestId, findings: JSON.stringify(findings) },
  )
}

export async function deleteFindings(transaction: Database, requestId: string, ids: string[]): Promise<void> {
  await query(transaction, 'delete from data_findings where request_id = :requestId and id = any(:ids)', {
    requestId,
    ids,
  })
}

/**
 * Deletes requests that ended long ago, with the ids and findings that they keep.
 *
 * @returns the number of deleted requests
 */
export async function deleteOldDataRequests(db: Database, milliseconds: number, limit: number): Promise<number> {
  const rows = await query(
    db,
    `delete from data_requests where id in (
       select id from data_requests
       where completed_at < now() - :milliseconds::double precision * interval '1 millisecond'
       order by id limit :limit
     ) returning id`,
    { milliseconds, limit },
  )
  return rows.length
}
