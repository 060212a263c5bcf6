import type { Context } from '#shared/context.ts'
import { idsSince } from '#shared/ids.ts'
import { deleteOldActivity } from '#shared/store/activity.ts'
import { deleteUnusedBundles, moveCode } from '#shared/store/bundles.ts'
import { deleteOldDataRequests } from '#shared/store/data-requests.ts'
import { deleteOldKeys } from '#shared/store/idempotency-keys.ts'
import { deleteOldUsage, releaseLostReservations } from '#shared/store/model-budgets.ts'
import { deleteOldModelContents } from '#shared/store/model-contents.ts'
import {
  alone,
  deleteOldAuditRecords,
  deleteOldJournals,
  deleteOldLogs,
  deleteOldVersions,
  deleteStatesWithoutOwners,
  type JournalCursor,
} from '#shared/store/retention.ts'
import { deleteEndedSessions } from '#shared/store/sessions.ts'
import { dataRetentionPasses } from './data-retention.ts'
import type { Pass } from './pass.ts'
import { repeatedly } from './repeatedly.ts'

/**
 * Deletes expired rows: logs, questions to language models, journals, old versions, activity, idempotency keys, audit
 * records, data requests, states without an owner, and the messages, conversations and users of bots with a retention. Passes
 * read rows in key order, in batches, so deletion needs no index of its own. `scheduler.ts` handles expired states, because it
 * sends their events to the bots.
 */

const intervalMilliseconds = 60_000
/** Rows that one statement reads; it holds their locks and loads the disk for some tens of milliseconds. */
const rowsOfPass = 2000
/** Maximum of passes over each kind between two pauses: enough for at least two million rows of each kind per hour. */
const maxPasses = 20
const hourMilliseconds = 3600 * 1000
const dayMilliseconds = 24 * hourMilliseconds
/** Code is large: one statement reads no more rows of it. */
const rowsOfCode = 4

/**
 * Starts to delete expired rows periodically. One worker at a time does.
 *
 * @returns stops the deletion, and waits for a pass in flight
 */
export function startRetention(context: Context): () => Promise<void> {
  const retention = openRetention(context)
  const stopping = new AbortController()
  const stop = repeatedly(intervalMilliseconds, async () => {
    for (let pass = 0; pass < maxPasses && !stopping.signal.aborted; pass++) {
      if (!context.dependencies.database.isUp() || !(await retention.pass())) break
    }
  })
  return () => {
    stopping.abort()
    return stop()
  }
}

/**
 * One pass over each kind of rows, bounded in rows; each continues where the last one ended.
 *
 * @param movesCodeAfter milliseconds from now on, after which no process of an earlier version runs
 */
export function openRetention(context: Context, rows = rowsOfPass, movesCodeAfter = hourMilliseconds) {
  const { db, log, config, metrics } = context
  const { logMilliseconds, failedMilliseconds, auditMilliseconds, usageMilliseconds, versions } = config.retention
  let journalCursor: JournalCursor | undefined
  let versionCursor: string | undefined
  let bundleCursor: string | undefined
  let stateCursor: string | undefined
  let statesSince = -Infinity
  const openedAt = performance.now()

  const passes: Record<string, Pass> = {
    logs: async (transaction) => (await deleteOldLogs(transaction, logMilliseconds, rows)) === rows,

    'questions to language models': async (transaction) => {
      const until = idsSince('evt', Date.now() - logMilliseconds)
      return (await deleteOldModelContents(transaction, until, rows)) === rows
    },

    'usage of language models': (transaction) => deleteOldUsage(transaction, usageMilliseconds, rows),

    sessions: async (transaction) => (await deleteEndedSessions(transaction, rows)) === rows,

    'lost reservations of budgets': async (transaction) => {
      const maxReleased = Math.ceil(rows / 20)
      const released = await releaseLostReservations(transaction, maxReleased)
      if (released > 0) log.info({ released }, 'Reservations of calls of language models that were cut are released')
      return released === maxReleased
    },

    journals: async (transaction) => {
      const until = idsSince('evt', Date.now() - dayMilliseconds)
      const options = { from: journalCursor, until, failedMilliseconds, limit: rows }
      const { cursor } = await deleteOldJournals(transaction, options)
      journalCursor = cursor
      return cursor !== undefined
    },

    versions: async (transaction) => {
      const until = idsSince('botver', Date.now() - dayMilliseconds)
      const options = { from: versionCursor, until, kept: versions, limit: Math.ceil(rows / 10) }
      const { cursor } = await deleteOldVersions(transaction, options)
      versionCursor = cursor
      return cursor !== undefined
    },

    bundles: async (transaction) => {
      const options = { from: bundleCursor, limit: Math.ceil(rows / 10) }
      const { cursor } = await deleteUnusedBundles(transaction, options)
      bundleCursor = cursor
      return cursor !== undefined
    },

    // Once a day: only processes of an earlier version write them, while they still run.
    'states without an owner': async (transaction) => {
      if (stateCursor === undefined) {
        if (performance.now() - statesSince < dayMilliseconds) return false
        statesSince = performance.now()
      }
      const { cursor, deleted } = await deleteStatesWithoutOwners(transaction, { from: stateCursor, limit: rows })
      if (deleted > 0) log.info({ deleted }, 'States of users, conversations and workflows that are gone are deleted')
      stateCursor = cursor
      return cursor !== undefined
    },

    // Processes of the version before may still run, and look for code where they have stored it.
    'code of earlier versions': async (transaction) =>
      performance.now() - openedAt >= movesCodeAfter && (await moveCode(transaction, rowsOfCode)) >= rowsOfCode,

    'audit records': async (transaction) =>
      (await deleteOldAuditRecords(transaction, auditMilliseconds, rows)) === rows,

    'data requests': async (transaction) =>
      (await deleteOldDataRequests(transaction, auditMilliseconds, Math.ceil(rows / 10))) > 0,

    ...dataRetentionPasses(context, rows),

    activity: async (transaction) => (await deleteOldActivity(transaction, rows)) === rows,

    'idempotency keys': async (transaction) => (await deleteOldKeys(transaction, rows)) === rows,
  }

  return {
    /** @returns whether any kind has more expired rows */
    async pass(): Promise<boolean> {
      let more = false
      for (const [what, pass] of Object.entries(passes)) {
        try {
          const counts = new Map<string, number>()
          const count = (kind: string, number: number) => void counts.set(kind, (counts.get(kind) ?? 0) + number)
          more = ((await alone(db, `retention of ${what}`, (transaction) => pass(transaction, count))) ?? false) || more
          for (const [kind, number] of counts) metrics.retentionDeletes.inc({ kind }, number)
        } catch (error) {
          log.error({ err: error, what }, 'Deleting expired rows failed; retrying')
        }
      }
      return more
    },
  }
}
