import { removeObject } from '#shared/files/objects.ts'
import type { DataRequestRow } from '#shared/models/tables.ts'
import { advanceDataRequest, insertFindings, personIds } from '#shared/store/data-requests.ts'
import { nextBot } from '#shared/store/erase-person.ts'
import { eraseRows } from '#shared/store/erase-rows.ts'
import { personSources, workspaceSources } from '#shared/store/person-sources.ts'
import { boundTime, isTooSlow, nextParent, searchStep } from '#shared/store/search-person.ts'
import { advance, scopeOf, termsOf, type ErasureRun } from './erasure-run.ts'

/** Rows that the first statement of a table reads, and the most that one reads. */
const [firstRows, maxRows] = [500, 4000]
/** A statement that takes longer reads fewer rows the next time. */
const slowMilliseconds = 500

/** Where the search continues. */
interface SearchPosition {
  /** The bot or, after all bots, the workspace. */
  bot?: string
  isWorkspace?: true
  /** The index of the source. */
  source?: number
  parent?: string
  after?: string[]
  limit?: number
}

/**
 * Reads the next rows of the tables that can hold data of a person. Rows that are the person's are erased; those that name
 * the person become findings, in the same transaction.
 */
export async function searchRows(run: ErasureRun): Promise<DataRequestRow> {
  const { context, request } = run
  const { db } = context
  const position = request.position as SearchPosition
  const { isWorkspace, source: index = 0, after = [], limit = firstRows } = position
  const source = position.bot === undefined ? undefined : (isWorkspace ? workspaceSources : personSources)[index]
  if (position.bot === undefined || !source) {
    if (isWorkspace) return advance(run, { stage: request.erases_findings ? 'findings' : 'completed', position: {} })
    const bot = await nextBot(db, { ...scopeOf(request), after: position.bot ?? '' })
    const next = bot === undefined ? { bot: request.workspace_id, isWorkspace: true } : { bot }
    return advance(run, { stage: 'search', position: { ...next, source: 0 } })
  }
  const botId = position.bot
  const where = { bot: botId, ...(isWorkspace && { isWorkspace }) }
  const next = { ...where, source: index + 1 }
  let { parent } = position
  if (source.parents !== undefined && parent === undefined) {
    parent = await nextParent(db, source, { botId, parent: '' })
    if (parent === undefined) return advance(run, { stage: 'search', position: next })
  }
  const [users, conversations] = await Promise.all([
    personIds(db, request.id, 'user'),
    personIds(db, request.id, 'conversation'),
  ])
  const userIds = [...new Set([...users.map(({ id }) => id), ...(run.subject.userIds ?? [])])]
  const search = {
    // Audit records keep the ids of users.
    terms: termsOf(run, isWorkspace ? [] : userIds),
    users: userIds,
    conversations: conversations.map(({ id }) => id),
  }
  const began = performance.now()
  let objects: string[] = []
  try {
    const advanced = await db.transaction(async (transaction) => {
      await boundTime(transaction)
      const step = { source, botId, parent: parent ?? '', after, limit }
      const { looked, last, found } = await searchStep(transaction, step, search)
      const own = found.filter(({ isLinked }) => isLinked || source.isTransient)
      const addresses = own.map(({ address }) => address)
      const { erased, objectIds } = await eraseRows(transaction, source.kind, botId, addresses)
      objects = objectIds
      await insertFindings(
        transaction,
        request.id,
        found
          .filter((row) => !own.includes(row))
          .map(({ address }) => ({ id: idOf(source.kind, address), kind: source.kind, bot_id: botId, address })),
      )
      const isSlow = performance.now() - began > slowMilliseconds
      const rows = isSlow ? Math.max(1, Math.floor(limit / 2)) : Math.min(maxRows, limit * 2)
      let position: SearchPosition = { ...where, source: index, after: last, limit: rows, ...(parent && { parent }) }
      if (looked < limit) {
        const following = source.parents && (await nextParent(transaction, source, { botId, parent: parent! }))
        position = following ? { ...where, source: index, parent: following } : next
      }
      return advanceDataRequest(transaction, request, {
        stage: 'search',
        position: position as Record<string, unknown>,
        searched: looked,
        ...(erased > 0 && { erased: { [source.kind]: erased } }),
      })
    })
    for (const id of objects) await removeObject(context, id)
    return advanced
  } catch (error) {
    if (!isTooSlow(error, { limit })) throw error
    return advance(run, { stage: 'search', position: { ...position, limit: Math.max(1, Math.floor(limit / 8)) } })
  }
}

function idOf(kind: string, address: Record<string, unknown>): string {
  const { tags: _, properties: _properties, fields: _fields, ...ids } = address
  return [kind, ...Object.values(ids)].join(':')
}
