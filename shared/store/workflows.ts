import type { Knex } from 'knex'
import { boundedPage } from './bounded-page.ts'
import { readPage } from './page-bytes.ts'
import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import { workflowUpdate } from '../models/event.ts'
import type { Change } from '../models/tags.ts'
import { finalStatuses } from '../models/workflow.ts'
import { query, type Database } from './database.ts'
import type { Due } from './scheduled-events.ts'
import type { WorkflowRow, WorkflowStatus } from '../models/tables.ts'

export interface NewWorkflow {
  id: string
  botId: string
  name: string
  status: WorkflowStatus
  input: Record<string, unknown>
  tags: Record<string, string>
  parentId?: string | undefined
  conversationId?: string | undefined
  userId?: string | undefined
  timeoutAt?: Date | undefined
  /** The event in whose handling it is in progress. */
  eventId?: string | undefined
}

/** The default lifetime of a workflow. */
const defaultTimeout = `interval '1 day'`

export async function insertWorkflow(db: Database, workflow: NewWorkflow): Promise<WorkflowRow> {
  const [row] = await query<WorkflowRow>(
    db,
    `insert into workflows
       (id, bot_id, name, status, input, tags, parent_id, conversation_id, user_id, timeout_at, event_id, continues_at)
     values (:id, :botId, :name, :status, :input, :tags, :parentId, :conversationId, :userId,
       coalesce(:timeoutAt, now() + ${defaultTimeout}), :eventId, case when :eventId::text is not null then now() end)
     returning *`,
    {
      id: workflow.id,
      botId: workflow.botId,
      name: workflow.name,
      status: workflow.status,
      input: JSON.stringify(workflow.input),
      tags: JSON.stringify(workflow.tags),
      parentId: workflow.parentId ?? null,
      conversationId: workflow.conversationId ?? null,
      userId: workflow.userId ?? null,
      timeoutAt: workflow.timeoutAt ?? null,
      eventId: workflow.eventId ?? null,
    },
  )
  if (!row) throw new Error('The inserted workflow was not returned')
  return row
}

export async function findWorkflow(
  db: Database,
  { botId }: { botId: string },
  id: string,
): Promise<WorkflowRow | undefined> {
  return db('workflows').where({ bot_id: botId, id }).first()
}

/**
 * Finds a workflow and prevents changes of it, of its conversation and of its parent's until the transaction ends. The
 * conversations are locked first, in the order of all statements that lock them with other rows.
 */
export async function lockWorkflow(db: Database, botId: string, id: string): Promise<WorkflowRow | undefined> {
  await query(
    db,
    `select from conversations
     where bot_id = :botId and id in (
       select conversation_id from workflows
       where bot_id = :botId
         and (id = :id or id = (select parent_id from workflows where bot_id = :botId and id = :id))
     )
     order by id for no key update`,
    { botId, id },
  )
  return db('workflows').where({ bot_id: botId, id }).forUpdate().first()
}

/** Serialises the creation of a bot's workflows of one name until the transaction ends. */
export async function lockWorkflowName(db: Database, botId: string, name: string): Promise<void> {
  await query(db, `select pg_advisory_xact_lock(hashtextextended(:key, 0))`, { key: `workflow ${botId} ${name}` })
}

export interface WorkflowMatch {
  botId: string
  name: string
  tags: Record<string, string>
  /** The keys of the tags to compare; by default all tags must be equal. */
  byTags?: string[] | undefined
  group?: 'active' | 'finished' | undefined
  conversationId?: string | undefined
  userId?: string | undefined
  parentId?: string | undefined
}

/** The newest workflows of a name in which a match is looked for before those with its tags. */
const maxNewest = 200

/** The newest workflow that matches. */
export async function matchWorkflow(db: Database, match: WorkflowMatch): Promise<WorkflowRow | undefined> {
  const { tags, byTags = Object.keys(tags) } = match
  const keys = byTags.filter((key) => Object.hasOwn(tags, key))
  const present = Object.fromEntries(keys.map((key) => [key, tags[key]!]))
  const newest = db('workflows').where({ bot_id: match.botId, name: match.name }).modify(newestFirst)
  if (keys.length === 0) return firstMatch(db, newest, match)
  // Tags that many workflows have are found among the newest, others by their index: neither reads all of the name.
  const found = await firstMatch(db, newest.limit(maxNewest), match)
  if (found) return found
  return firstMatch(
    db,
    db('workflows')
      .whereRaw(`tags @> ?::jsonb and tags <> '{}'`, [JSON.stringify(present)])
      .offset(db.raw('0') as unknown as number),
    match,
  )
}

function firstMatch(db: Database, among: Knex.QueryBuilder, match: WorkflowMatch): Promise<WorkflowRow | undefined> {
  return db.from(among.as('workflows')).modify(matching, match).modify(newestFirst).first()
}

function newestFirst(workflows: Knex.QueryBuilder): void {
  void workflows.orderBy([
    { column: 'created_at', order: 'desc' },
    { column: 'id', order: 'desc' },
  ])
}

function matching(workflows: Knex.QueryBuilder, { tags, byTags, group, ...match }: WorkflowMatch): void {
  void workflows.where({
    bot_id: match.botId,
    name: match.name,
    ...(match.conversationId && { conversation_id: match.conversationId }),
    ...(match.userId && { user_id: match.userId }),
    ...(match.parentId && { parent_id: match.parentId }),
  })
  if (!byTags) void workflows.whereRaw('tags = ?::jsonb', [JSON.stringify(tags)])
  for (const key of byTags ?? []) {
    // A key may be the name of an inherited property, and knex would take a function for a query.
    const value = Object.hasOwn(tags, key) ? tags[key]! : null
    void workflows.whereRaw('tags ->> ? is not distinct from ?', [key, value])
  }
  if (group === 'active') void workflows.whereNotIn('status', finalStatuses)
  if (group === 'finished') void workflows.whereIn('status', finalStatuses)
}

export interface WorkflowFilter {
  tags?: Record<string, string> | undefined
  conversationId?: string | undefined
  userId?: string | undefined
  parentWorkflowId?: string | undefined
  statuses?: WorkflowStatus[] | undefined
  name?: string | undefined
}

/** The columns of workflows that may be large. */
const large = ['listed.input', 'listed.output', 'listed.tags']

/**
 * One page of a bot's workflows, newest first. It reads a bounded number of them, except of those with tags or of a conversation,
 * which an index finds.
 */
export async function pageOfWorkflows(
  db: Database,
  botId: string,
  { tags, statuses, ...filter }: WorkflowFilter,
  request: PageRequest,
): Promise<Page<WorkflowRow>> {
  const passing = (rows: Knex.QueryBuilder) => {
    void rows.where({
      ...(filter.conversationId && { conversation_id: filter.conversationId }),
      ...(filter.userId && { user_id: filter.userId }),
      ...(filter.parentWorkflowId && { parent_id: filter.parentWorkflowId }),
    })
    if (tags) void rows.whereRaw('tags @> ?::jsonb', [JSON.stringify(tags)])
    if (statuses) void rows.whereIn('status', statuses)
  }
  const within = (rows: Knex.QueryBuilder) =>
    void rows.where({ bot_id: botId, ...(filter.name && { name: filter.name }) })
  const few = fewWorkflows(db, { tags, ...filter })
  if (!few) return boundedPage(db, { table: 'workflows', parts: [within], passing, large }, request)
  const read = db
    .from(few.as('workflows'))
    .modify(within)
    .modify(passing)
    .modify((builder) => page(builder, request))
  const rows = await readPage<WorkflowRow>(db, read, large)
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

/** The workflows that an index of their own finds. A subquery with an offset is planned apart: plans are made for no values. */
function fewWorkflows(db: Database, { tags, conversationId, parentWorkflowId }: WorkflowFilter) {
  const workflows = db('workflows').offset(db.raw('0') as unknown as number)
  if (conversationId) return workflows.where({ conversation_id: conversationId })
  if (parentWorkflowId) return workflows.where({ parent_id: parentWorkflowId })
  if (!tags || Object.keys(tags).length === 0) return undefined
  return workflows.whereRaw(`tags @> ?::jsonb and tags <> '{}'`, [JSON.stringify(tags)])
}

export interface WorkflowChanges {
  status?: WorkflowStatus | undefined
  output?: Record<string, unknown> | undefined
  tags?: Change | undefined
  userId?: string | undefined
  timeoutAt?: Date | undefined
  failureReason?: string | undefined
  /** The event in whose handling it is in progress. */
  eventId?: string | undefined
}

/** Changes the given fields and leaves the others. Undefined when there is no such workflow. */
export async function changeWorkflow(
  db: Database,
  botId: string,
  id: string,
  changes: WorkflowChanges,
): Promise<WorkflowRow | undefined> {
  const [row] = await query<WorkflowRow>(
    db,
    `update workflows set
       status = coalesce(:status, status),
       output = coalesce(:output, output),
       tags = (tags || :tags::jsonb) - :removedTags::text[],
       user_id = coalesce(:userId, user_id),
       timeout_at = coalesce(:timeoutAt, timeout_at),
       failure_reason = coalesce(:failureReason, failure_reason),
       event_id = coalesce(:eventId, event_id),
       continues_at = case when :eventId::text is null and :status::text is distinct from 'listening' then continues_at else now() end,
       completed_at = case when coalesce(:status, status) = any(:finalStatuses::text[])
         then coalesce(completed_at, now()) end,
       updated_at = now()
     where bot_id = :botId and id = :id
     returning *`,
    {
      botId,
      id,
      status: changes.status ?? null,
      output: changes.output ? JSON.stringify(changes.output) : null,
      tags: JSON.stringify(changes.tags?.set ?? {}),
      removedTags: changes.tags?.removed ?? [],
      userId: changes.userId ?? null,
      timeoutAt: changes.timeoutAt ?? null,
      failureReason: changes.failureReason ?? null,
      eventId: changes.eventId ?? null,
      finalStatuses: [...finalStatuses],
    },
  )
  return row
}

/** Deletes a workflow with all its descendants, and their states. */
export async function deleteWorkflow(db: Database, botId: string, id: string): Promise<void> {
  await query(db, 'delete from workflows where bot_id = :botId and id = :id', { botId, id })
}

/** Workflows whose time has expired, the longest expired first. */
export async function dueWorkflows(db: Database, due: Due): Promise<WorkflowRow[]> {
  return query<WorkflowRow>(
    db,
    `select * from workflows
     where completed_at is null and timeout_at <= now() and bot_id <> all(:exceptBots::text[])
     order by timeout_at, id limit :limit`,
    { ...due },
  )
}

/** Workflows that may be continued, as in the index. */
const mayContinue = `(status = 'in_progress' or status = 'listening' and heard_event_id is not null)`

/**
 * Whether a workflow is continued: it is still in progress after the event in whose handling it is has ended. An update of its own
 * that failed, or that no code handles, is not followed by another one until it is replayed. A workflow that has run for long
 * waits a twentieth of that time, so that one that never ends takes few events.
 *
 * One that is listening is continued when the event that it has heard has been handled, as well as its own last update.
 */
const isContinued = `
  case workflows.status when 'listening' then
    (events.id is null or events.ended_at is not null) and (heard.id is null or heard.ended_at is not null)
  else
    events.id is null or (events.ended_at is not null
      and not (events.status in ('failed', 'ignored') and events.workflow_id is not distinct from workflows.id)
      and events.ended_at + (events.ended_at - workflows.created_at) / 20 <= now())
  end`

/** The events that decide whether a workflow is continued. */
const decidingEvents = `
  left join events on events.id = workflows.event_id left join events heard on heard.id = workflows.heard_event_id`

/** Upper bound of the statements of one look. */
const maxStatements = 20

/**
 * Finds workflows that have to be continued, and puts off those whose time has not come, so that a look costs what is due and
 * not what is in progress. It goes on while it only puts off: one bot may have many such workflows, before those of others.
 */
export async function continuableWorkflows(db: Database, { limit, exceptBots }: Due): Promise<WorkflowRow[]> {
  const found: WorkflowRow[] = []
  for (let count = 0; count < maxStatements && found.length < limit; count++) {
    const batch = limit - found.length
    const looked = await lookAtDue(db, { limit: batch, exceptBots, found: found.map(({ id }) => id) })
    found.push(...looked.filter((row) => row.is_continued))
    if (looked.length < batch) break
  }
  return found
}

/** @returns as many rows as it has looked at; those that are put off have null in place of the workflow */
async function lookAtDue(
  db: Database,
  due: Due & { found: string[] },
): Promise<(WorkflowRow & { is_continued: boolean })[]> {
  return query<WorkflowRow & { is_continued: boolean }>(
    db,
    `with due as materialized (
       select id from workflows
       where ${mayContinue} and continues_at <= now() and bot_id <> all(:exceptBots::text[]) and id <> all(:found::text[])
       order by continues_at limit :limit
       for no key update skip locked
     ), looked as materialized (
       select workflows.id, ${isContinued} as is_continued,
         case workflows.status when 'listening' then heard.created_at else workflows.created_at end as since
       from due join workflows using (id) ${decidingEvents}
     ), put_off as (
       update workflows set continues_at = now() + greatest(interval '1 second', (now() - since) / 20)
       from looked where workflows.id = looked.id and not is_continued
     )
     select looked.is_continued, workflows.*
     from looked left join workflows on workflows.id = looked.id and looked.is_continued`,
    { ...due },
  )
}

/** Finds a workflow that has to be continued and prevents changes of it, in a transaction. Undefined when it has not. */
export async function lockContinuable(db: Database, botId: string, id: string): Promise<WorkflowRow | undefined> {
  await lockWorkflow(db, botId, id)
  const [row] = await query<WorkflowRow>(
    db,
    `select workflows.*
     from (select * from workflows where bot_id = :botId and id = :id and ${mayContinue}) workflows ${decidingEvents}
     where continues_at <= now() and timeout_at > now() and (${isContinued})`,
    { botId, id },
  )
  return row
}

/** A workflow and an event that concerns it. */
type WorkflowEvent = Record<'botId' | 'id' | 'eventId', string>

/**
 * Notes the event that continues a workflow, in whose handling it is in progress. Of the events that name the workflow, the
 * newest one that is still handled continues it once more: the workflow may look for what that event tells before it is there.
 */
export async function noteContinuation(db: Database, event: WorkflowEvent): Promise<void> {
  await query(
    db,
    `update workflows set event_id = :eventId, continues_at = now(), heard_event_id = (
       select heard.id from events heard
       where heard.bot_id = :botId and heard.workflow_id = :id and heard.status = 'pending'
         and heard.id <> :eventId and heard.id is distinct from workflows.event_id
         and (heard.type <> :workflowUpdate
           or heard.payload ->> 'type' in ('child_workflow_finished', 'child_workflow_deleted'))
       order by heard.created_at desc limit 1
     )
     where bot_id = :botId and id = :id`,
    { ...event, workflowUpdate },
  )
}

/**
 * Notes an event that names a workflow, other than one of its own updates. If the workflow is listening then, or later before
 * something else continues it, the event continues it as soon as it has been handled.
 */
export async function noteHeardEvent(db: Database, event: WorkflowEvent): Promise<void> {
  await query(
    db,
    `update workflows set heard_event_id = :eventId, continues_at = now()
     where bot_id = :botId and id = :id and completed_at is null`,
    event,
  )
}

/** Ends a workflow as timed out. Undefined when it has ended otherwise or its time was extended meanwhile. */
export async function endOverdueWorkflow(db: Database, botId: string, id: string): Promise<WorkflowRow | undefined> {
  const [row] = await query<WorkflowRow>(
    db,
    `update workflows set status = 'timedout', completed_at = now(), updated_at = now()
     where bot_id = :botId and id = :id and completed_at is null and timeout_at <= now()
     returning *`,
    { botId, id },
  )
  return row
}
