import { setTimeout as pause } from 'node:timers/promises'
import { runMigrations } from 'bullmq'
import knex, { type Knex } from 'knex'
import { Client } from 'pg'
import { isConflict } from '#shared/errors.ts'
import { connectionSettings } from '#shared/store/database.ts'
import { readMigrationState, type MigrationState } from './assert-migrated.ts'
import { withoutQueueEvents } from './queue-events.ts'
import { finishRestore } from './unfinished-restore.ts'
import * as tables from './001_tables.ts'
import * as installationConfiguration from './002_installation_configuration.ts'
import * as conversationLog from './003_conversation_log.ts'
import * as integrations from './004_integrations.ts'
import * as sizesOfTags from './005_sizes_of_tags.ts'
import * as integrationPermissions from './006_integration_permissions.ts'
import * as disabledCode from './007_disabled_code.ts'
import * as limits from './008_limits.ts'
import * as idempotencyKeys from './009_idempotency_keys.ts'
import * as failedEvents from './010_failed_events.ts'
import * as straightLine from './012_straight_line.ts'
import * as administration from './013_administration.ts'
import * as activity from './014_activity.ts'
import * as boundKeys from './015_bound_keys.ts'
import * as invitations from './016_invitations.ts'
import * as compiling from './017_compiling.ts'
import * as versionAuthors from './022_version_authors.ts'
import * as separateIds from './035_separate_ids.ts'
import * as fileObjects from './036_file_objects.ts'
import * as files from './037_files.ts'
import * as botTables from './038_tables.ts'
import * as passages from './039_passages.ts'
import * as tableJobs from './040_table_jobs.ts'
import * as passageVectors from './041_passage_vectors.ts'
import * as computedColumns from './042_computed_columns.ts'
import * as flows from './043_flows.ts'
import * as flowPositions from './044_flow_positions.ts'
import * as conversationTriggers from './045_conversation_triggers.ts'
import * as renamedNodes from './046_renamed_nodes.ts'
import * as inspectionSecrets from './048_inspection_secrets.ts'
import * as integrationScripts from './053_integration_scripts.ts'
import * as interfacesAndPlugins from './054_interfaces_and_plugins.ts'
import * as tunnels from './056_tunnels.ts'
import * as integrationLogs from './057_integration_logs.ts'
import * as issuesAndDays from './058_issues_and_days.ts'
import * as modelUsage from './059_model_usage.ts'
import * as handovers from './061_handovers.ts'
import * as roleAgent from './063_role_agent.ts'
import * as notesAndCannedReplies from './066_notes_and_canned_replies.ts'
import * as inbox from './067_inbox.ts'
import * as sourcesOfSessions from './068_sources_of_sessions.ts'
import * as inboxOfMembers from './071_inbox_of_members.ts'
import * as inboxWebhooks from './072_inbox_webhooks.ts'
import * as bundles from './074_bundles.ts'
import * as modelContents from './077_model_contents.ts'
import * as modelReservations from './078_model_reservations.ts'
import * as actionDefinitions from './080_action_definitions.ts'
import * as sourceMapsOfUploads from './083_source_maps_of_uploads.ts'
import * as modelKeys from './081_model_keys.ts'
import * as signIn from './094_sign_in.ts'
import * as dataRequests from './085_data_requests.ts'
import * as retention from './098_retention.ts'
import * as listsByUpdate from './110_lists_by_update.ts'
import * as modelSlots from './111_model_slots.ts'
import * as reserveModelUsage from './112_reserve_model_usage.ts'
import * as conversationsByNewestMessage from './113_conversations_by_newest_message.ts'
import * as messageCounts from './114_message_counts.ts'
import * as scriptChecks from './115_script_checks.ts'
import * as passagesWithoutVectors from './116_passages_without_vectors.ts'
import * as workflowEvents from './117_workflow_events.ts'
import * as publicIntegrations from './118_public_integrations.ts'
import * as workflowsByTags from './119_workflows_by_tags.ts'
import * as installationRemovals from './120_installation_removals.ts'
import * as statesOfOwners from './121_states_of_owners.ts'
import * as pageBytes from './122_page_bytes.ts'
import * as deletionsOfBots from './123_deletions_of_bots.ts'
import * as reservationsWithoutBots from './124_reservations_without_bots.ts'
import * as newsOfRemovedWebhooks from './125_news_of_removed_webhooks.ts'
import * as newsOfEndedHandovers from './126_news_of_ended_handovers.ts'
import * as eventsForWorkflows from './127_events_for_workflows.ts'
import * as pendingEventsOfWorkflows from './128_pending_events_of_workflows.ts'
import * as languagesOfPassages from './129_languages_of_passages.ts'

interface Migration extends Knex.Migration {
  /** Where old and new processes cannot do everything side by side: what does not work, and what to do until all are replaced. */
  untilReplaced?: string
}

/** All migrations, in order. A migration that has run on any database is never changed; a new one follows it. */
export const migrations: Record<string, Migration> = {
  '001_tables': tables,
  '002_installation_configuration': installationConfiguration,
  '003_conversation_log': conversationLog,
  '004_integrations': integrations,
  '005_sizes_of_tags': sizesOfTags,
  '006_integration_permissions': integrationPermissions,
  '007_disabled_code': disabledCode,
  '008_limits': limits,
  '009_idempotency_keys': idempotencyKeys,
  '010_failed_events': failedEvents,
  '012_straight_line': straightLine,
  '013_administration': administration,
  '014_activity': activity,
  '015_bound_keys': boundKeys,
  '016_invitations': invitations,
  '017_compiling': compiling,
  '022_version_authors': versionAuthors,
  '035_separate_ids': separateIds,
  '036_file_objects': fileObjects,
  '037_files': files,
  '038_tables': botTables,
  '039_passages': passages,
  '040_table_jobs': tableJobs,
  '041_passage_vectors': passageVectors,
  '042_computed_columns': computedColumns,
  '043_flows': flows,
  '044_flow_positions': flowPositions,
  '045_conversation_triggers': conversationTriggers,
  '046_renamed_nodes': renamedNodes,
  '048_inspection_secrets': inspectionSecrets,
  '053_integration_scripts': integrationScripts,
  '054_interfaces_and_plugins': interfacesAndPlugins,
  '056_tunnels': tunnels,
  '057_integration_logs': integrationLogs,
  '058_issues_and_days': issuesAndDays,
  '059_model_usage': modelUsage,
  '061_handovers': handovers,
  '063_role_agent': roleAgent,
  '066_notes_and_canned_replies': notesAndCannedReplies,
  '067_inbox': inbox,
  '068_sources_of_sessions': sourcesOfSessions,
  '071_inbox_of_members': inboxOfMembers,
  '072_inbox_webhooks': inboxWebhooks,
  '074_bundles': bundles,
  '077_model_contents': modelContents,
  '078_model_reservations': modelReservations,
  '080_action_definitions': actionDefinitions,
  '083_source_maps_of_uploads': sourceMapsOfUploads,
  '081_model_keys': modelKeys,
  '094_sign_in': signIn,
  '085_data_requests': dataRequests,
  '098_retention': retention,
  '110_lists_by_update': listsByUpdate,
  '111_model_slots': modelSlots,
  '112_reserve_model_usage': reserveModelUsage,
  '113_conversations_by_newest_message': conversationsByNewestMessage,
  '114_message_counts': messageCounts,
  '115_script_checks': scriptChecks,
  '116_passages_without_vectors': passagesWithoutVectors,
  '117_workflow_events': workflowEvents,
  '118_public_integrations': publicIntegrations,
  '119_workflows_by_tags': workflowsByTags,
  '120_installation_removals': installationRemovals,
  '121_states_of_owners': statesOfOwners,
  '122_page_bytes': pageBytes,
  '123_deletions_of_bots': deletionsOfBots,
  '124_reservations_without_bots': reservationsWithoutBots,
  '125_news_of_removed_webhooks': newsOfRemovedWebhooks,
  '126_news_of_ended_handovers': newsOfEndedHandovers,
  '127_events_for_workflows': eventsForWorkflows,
  '128_pending_events_of_workflows': pendingEventsOfWorkflows,
  '129_languages_of_passages': languagesOfPassages,
}

const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => Object.keys(migrations),
  getMigrationName: (name) => name,
  async getMigration(name) {
    const migration = migrations[name]
    if (!migration) throw new Error(`There is no migration ${name}`)
    return {
      ...migration,
      async up(db) {
        await db.raw(noTimeLimits)
        await migration.up(db)
      },
    }
  },
}

/**
 * Lifts the time limits of a transaction. They may be those of the user or the database; behind a pooler that shares connections, those
 * that the api and the workers set. Only later versions of PostgreSQL have the last one.
 */
const noTimeLimits = `
  select set_config(name, '0', true) from pg_settings
  where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`

type ConnectionSettings = ReturnType<typeof connectionSettings>

/** The error that knex throws has the text of its warnings. */
const silent = { warn() {} }

/** The key of the advisory lock that serializes migrating processes. */
export const migrationLockKey = 1_769_172_834

/**
 * Migrates a database: our tables and those of the queue's PostgreSQL back end. It is idempotent and safe to run from
 * several processes at once. It refuses a database that is newer than this code.
 *
 * @returns the names of the migrations that ran
 */
export async function migrate(url: string, { allowSelfSigned = false } = {}): Promise<string[]> {
  const connection = connectionSettings({ url, allowSelfSigned })
  return withClient(connection, async (lock) => {
    // Behind a pooler in transaction mode, a lock of the session would outlive this process, and hold back the next one.
    await lock.query(`begin; ${noTimeLimits}; select pg_advisory_xact_lock(${migrationLockKey})`)
    const state = await readMigrationState(lock)
    assertKnown(state)
    using kept = keepLock(lock)
    const done = await runMissing(connection, state, kept)
    kept.assertHeld()
    await withClient(connection, async (client) => {
      await runMigrations(client)
      await withoutQueueEvents(client)
      await finishRestore(client)
    })
    return done
  })
}

/** Less than the time after which poolers and networks end a connection that is idle. */
const keepMilliseconds = 1000

interface KeptLock extends Disposable {
  /** @throws LostLockError */
  assertHeld(): void
}

/**
 * Keeps the connection with the lock in use. A pooler may end a transaction that is idle (`idle_transaction_timeout` of
 * PgBouncer), and a network a connection.
 */
function keepLock(lock: Client): KeptLock {
  let lost: unknown
  const lose = (error: unknown) => (lost ??= error)
  lock.on('error', lose)
  const timer = setInterval(() => lock.query('select 1').catch(lose), keepMilliseconds)
  return {
    assertHeld() {
      if (lost !== undefined) throw new LostLockError(lost)
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** The connection that excludes other release steps has broken. The message has a remedy. */
export class LostLockError extends Error {
  override name = 'LostLockError'

  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    super(`The connection with the lock of the migrations broke (${reason}): run the release step again`, { cause })
  }
}

async function withClient<Result>(
  connection: ConnectionSettings,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client(connection)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Upper bound of attempts for a migration that PostgreSQL aborts because of a concurrent transaction. */
const maxAttempts = 10
/** The other side of a deadlock takes its locks in this time, before the migration asks for them again. */
const repeatMilliseconds = 200

/**
 * Runs the missing migrations in order, each in a transaction of its own: requests wait for the locks of one at a time, and
 * none asks for a stronger lock on a table that an earlier one has locked, for which requests that wait for that table would
 * have to end first. A migration is repeated when requests lock its tables in another order and PostgreSQL ends the deadlock.
 * On a new database, which has no requests, all run in one transaction, which takes half of the time.
 *
 * @returns their names
 * @throws LostLockError after the migration during which the lock was lost
 */
async function runMissing(connection: ConnectionSettings, { isEmpty }: MigrationState, lock: KeptLock) {
  const db = knex({ client: 'pg', connection, pool: { min: 0, max: 1 }, log: silent })
  const done: string[] = []
  let attempts = 0
  try {
    // The advisory lock excludes other processes, so a knex lock found here belongs to a killed process.
    await db.migrate.forceFreeMigrationsLock({ migrationSource })
    while (true) {
      lock.assertHeld()
      try {
        const running = isEmpty ? db.migrate.latest({ migrationSource }) : db.migrate.up({ migrationSource })
        const [, names] = (await running) as [batch: number, names: string[]]
        if (names.length === 0) return done
        done.push(...names)
        attempts = 0
      } catch (error) {
        attempts++
        if (attempts === maxAttempts || !isConflict(error)) throw error
        await pause(repeatMilliseconds)
      }
    }
  } finally {
    await db.destroy()
  }
}

/**
 * Lists what does not work until the processes of the former version are replaced.
 *
 * @param names the migrations of a release; with the first one, there are no former processes
 */
export function listCautions(names: readonly string[]): string[] {
  if (names.includes('001_tables')) return []
  return names.flatMap((name) => {
    const caution = migrations[name]?.untilReplaced
    return caution === undefined ? [] : [`${name}: ${caution}`]
  })
}

/** The database has migrations that this code does not know. */
export class NewerDatabaseError extends Error {
  override name = 'NewerDatabaseError'
}

/** @throws NewerDatabaseError */
function assertKnown({ unknown }: MigrationState): void {
  if (unknown.length === 0) return
  throw new NewerDatabaseError(
    `The database is newer than this code: it has the migrations ${unknown.join(', ')}. Deploy the newer code again, ` +
      'or restore a backup that was taken before it: migrations are not undone',
  )
}

/** Brings an empty database to an earlier state, in a transaction: to the one in which these migrations have run. */
export async function migrateTo(transaction: Knex.Transaction, names: readonly string[]): Promise<void> {
  const getMigrations = async () => Object.keys(migrations).filter((name) => names.includes(name))
  await transaction.migrate.latest({ migrationSource: { ...migrationSource, getMigrations } })
}
