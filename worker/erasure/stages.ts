import { maxUsers } from '#shared/models/data-request.ts'
import { personTerms } from '#shared/models/person-terms.ts'
import type { DataRequestRow } from '#shared/models/tables.ts'
import { removeObject } from '#shared/files/objects.ts'
import { endStreams } from '#shared/signals/after-commit.ts'
import { readClock } from '#shared/store/conversation-log.ts'
import type { Database } from '#shared/store/database.ts'
import { deleteFindings, insertPersonIds, listFindings, personIds, type PersonId } from '#shared/store/data-requests.ts'
import {
  eraseOfConversation,
  eraseUserRow,
  hasRunsSince,
  identifiedUsers,
  inboxUsersOf,
  namedUsers,
  nextBot,
} from '#shared/store/erase-person.ts'
import { eraseRows } from '#shared/store/erase-rows.ts'
import type { SourceKind } from '#shared/store/person-sources.ts'
import { advance, inTransaction, scopeOf, TooManyUsersError, type ErasureRun } from './erasure-run.ts'
import { searchRows } from './search-rows.ts'

/** Rows that one transaction erases. */
const batchSize = 1000
/** Rows of findings that one transaction erases. */
const findingsBatch = 200

/** Performs the next step of a request: one transaction, which also stores how far the request is. */
export async function nextStep(run: ErasureRun): Promise<DataRequestRow> {
  switch (run.request.stage) {
    case 'users':
      return findUsers(run)
    case 'conversations':
      return eraseOwn(run)
    case 'runs':
      return waitForRuns(run)
    case 'search':
      return searchRows(run)
    case 'findings':
      return eraseFindings(run)
  }
}

/** Finds the users that are the person, bot after bot. */
async function findUsers(run: ErasureRun): Promise<DataRequestRow> {
  const { context, request, subject } = run
  const { bot = '', after = '', isNamed } = request.position as { bot?: string; after?: string; isNamed?: true }
  const botId = isNamed ? bot : await nextBot(context.db, { ...scopeOf(request), after: bot })
  if (botId === undefined) return advance(run, { stage: 'conversations', position: {} })
  return inTransaction(run, async (transaction) => {
    const { whole } = personTerms(subject, []) ?? { whole: null }
    const named = isNamed ? [] : await namedUsers(transaction, botId, subject)
    const read =
      whole === null ? undefined : await identifiedUsers(transaction, botId, { whole, after, limit: batchSize })
    const users = [...named, ...(read?.users ?? [])]
    const inbox = await inboxUsersOf(
      transaction,
      botId,
      users.map(({ id }) => id),
    )
    await insertPersonIds(transaction, request.id, 'user', [...users, ...inbox])
    if ((await personIds(transaction, request.id, 'user')).length > maxUsers) throw new TooManyUsersError()
    const last = read?.last
    const position = last === undefined ? { bot: botId } : { bot: botId, isNamed: true, after: last }
    return { stage: 'users', position, searched: read?.looked ?? 0 }
  })
}

/** Erases the users, then the conversations in which nobody else takes part. */
async function eraseOwn(run: ErasureRun): Promise<DataRequestRow> {
  const { context, request } = run
  const { user: lastUser = '', conversation: lastConversation = '' } = request.position as Record<string, string>
  const users = await personIds(context.db, request.id, 'user')
  const user = users.find(({ id }) => id > lastUser)
  if (user) return eraseUser(run, user, users)
  const conversations = await personIds(context.db, request.id, 'conversation')
  const conversation = conversations.find(({ id }) => id > lastConversation)
  if (!conversation) return advance(run, { stage: 'runs', position: { before: await nextTime(context.db) } })
  return inTransaction(run, async (transaction) => {
    const { erased, isGone } = await eraseOfConversation(transaction, conversation, batchSize)
    const position = { user: lastUser, conversation: isGone ? conversation.id : lastConversation }
    return { stage: 'conversations', position, erased }
  })
}

/** A time after that of every run which has begun: that of the database, whose clock the runs have, in whole milliseconds. */
async function nextTime(db: Database): Promise<string> {
  return new Date((await readClock(db)).getTime() + 1).toISOString()
}

async function eraseUser(run: ErasureRun, user: PersonId, users: PersonId[]): Promise<DataRequestRow> {
  const { context, request } = run
  const ids = users.map(({ id }) => id)
  let gone: Awaited<ReturnType<typeof eraseUserRow>> | undefined
  const next = await inTransaction(run, async (transaction) => {
    gone = await eraseUserRow(transaction, { requestId: request.id, user, users: ids })
    const erased = { user: Number(gone.wasThere), file: gone.files }
    return { stage: 'conversations', position: { user: user.id }, erased }
  })
  await endStreams(context, user.id, gone?.conversationIds ?? [])
  for (const id of gone?.objectIds ?? []) await removeObject(context, id)
  return next
}

/** Runs that began before the users were erased know what they have read; the search comes after their ends. */
async function waitForRuns(run: ErasureRun): Promise<DataRequestRow> {
  const { context, request } = run
  const before = new Date(String(request.position['before']))
  const isBusy = await hasRunsSince(context.db, { ...scopeOf(request), before })
  return advance(
    run,
    isBusy ? { stage: 'runs', position: request.position, pauseSeconds: 1 } : { stage: 'search', position: {} },
  )
}

/** Erases the rows that were found. */
async function eraseFindings(run: ErasureRun): Promise<DataRequestRow> {
  const { context, request } = run
  const findings = await listFindings(context.db, request.id, { limit: findingsBatch })
  const [first] = findings
  if (!first) return advance(run, { stage: 'completed', position: {} })
  const { kind, bot_id: botId } = first
  const batch = findings.filter((finding) => finding.kind === kind && finding.bot_id === botId)
  let objects: string[] = []
  const next = await inTransaction(run, async (transaction) => {
    const addresses = batch.map(({ address }) => address)
    const { erased, objectIds } = await eraseRows(transaction, kind as SourceKind, botId, addresses)
    objects = objectIds
    await deleteFindings(
      transaction,
      request.id,
      batch.map(({ id }) => id),
    )
    return { stage: 'findings', position: {}, erased: { [kind]: erased } }
  })
  for (const id of objects) await removeObject(context, id)
  return next
}
