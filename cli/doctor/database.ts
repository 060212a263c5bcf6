import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { connectionBudget } from '#shared/config/connection-budget.ts'
import type { Config } from '#shared/config/config.ts'
import { findPoolerProblem } from '#shared/connectivity/pooler.ts'
import {
  explainUnreachable,
  migrationGrants,
  readOnlyRemedy,
  searchPathRemedy,
} from '#shared/connectivity/reach-database.ts'
import { decryptJson } from '#shared/secrets.ts'
import { connectionSettings } from '#shared/store/database.ts'
import { readMigrationState, releaseRemedy } from '../../migrations/assert-migrated.ts'
import { listCautions, migrations } from '../../migrations/migrations.ts'
import { findingsOf, type Finding } from './finding.ts'

const { ok, warn, fail } = findingsOf('Database')

const minVersion = 150_000
const patienceMilliseconds = 5000
const notificationMilliseconds = 2000
const wantedClockMilliseconds = 2000
const maxClockMilliseconds = 30_000

/**
 * Checks PostgreSQL: reachability, whether it accepts writes, the schema of search_path, version, privileges, free connections, clock,
 * notifications, migrations and secret.
 */
export async function checkDatabase(config: Config): Promise<Finding[]> {
  let client
  try {
    client = new Client({
      ...connectionSettings(config.database),
      connectionTimeoutMillis: patienceMilliseconds,
      query_timeout: patienceMilliseconds,
    })
    client.on('error', () => {})
    await client.connect()
  } catch (error) {
    return [unreachable(error, config)]
  }
  try {
    const checks = [
      checkVersion,
      checkPrivileges,
      checkConnections,
      checkClock,
      checkPooler,
      checkNotifications,
      checkMigrations,
    ]
    const findings = [...(await checkWritable(client)), ...(await checkSearchPath(client))]
    // A replica can neither receive notifications nor run migrations, and without a schema there are no tables.
    if (findings.length > 0) return findings
    for (const check of checks) findings.push(...(await check(client, config)))
    const isMigrated = findings.every(({ grade }) => grade !== 'fail')
    return isMigrated ? [...findings, ...(await checkSecret(client, config))] : findings
  } finally {
    await client.end().catch(() => {})
  }
}

function unreachable(error: unknown, { database }: Config): Finding {
  const { message, remedy } = explainUnreachable(error, database.url)
  return fail(message, remedy)
}

async function ask<Row>(client: Client, sql: string): Promise<Row> {
  const { rows } = await client.query(sql)
  return rows[0] as Row
}

async function checkVersion(client: Client): Promise<Finding[]> {
  const { number, name } = await ask<{ number: number; name: string }>(
    client,
    `select current_setting('server_version_num')::integer as number, current_setting('server_version') as name`,
  )
  if (number >= minVersion) return [ok(`PostgreSQL ${name} answers`)]
  return [fail(`PostgreSQL ${name} is too old`, 'upgrade it to 15 or newer')]
}

async function checkWritable(client: Client): Promise<Finding[]> {
  const { replica, value } = await ask<{ replica: boolean; value: string }>(
    client,
    `select pg_is_in_recovery() as replica, current_setting('transaction_read_only') as value`,
  )
  if (value === 'off') return []
  return [fail(replica ? 'The database is a read-only replica' : 'The database is read-only', readOnlyRemedy)]
}

async function checkSearchPath(client: Client): Promise<Finding[]> {
  const { schema, path } = await ask<{ schema: string | null; path: string }>(
    client,
    `select current_schema() as schema, current_setting('search_path') as path`,
  )
  return schema === null ? [fail(`No schema of search_path (${path}) can be used`, searchPathRemedy)] : []
}

interface Privileges {
  may_create: boolean | null
  may_write: boolean
  may_queue: boolean
  user: string
  database: string
}

/** Whether the user may write to all tables of a schema, also where there are none. */
function mayWriteTo(schema: string): string {
  return `coalesce((
    select bool_and(has_schema_privilege(relnamespace, 'usage') and has_table_privilege(oid, 'select, insert, update, delete'))
    from pg_class where relkind = 'r' and relnamespace = ${schema}), true)`
}

async function checkPrivileges(client: Client, { redis }: Config): Promise<Finding[]> {
  const privileges = await ask<Privileges>(
    client,
    `select current_user as user, current_database() as database,
       has_schema_privilege(current_schema(), 'create') and has_database_privilege(current_database(), 'create') as may_create,
       ${mayWriteTo('current_schema()::regnamespace')} as may_write,
       ${mayWriteTo(`to_regnamespace('bullmq')`)} as may_queue`,
  )
  const { may_create: mayCreate, may_write: mayWrite, may_queue: mayQueue, user, database } = privileges
  const findings: Finding[] = []
  if (!mayWrite) {
    findings.push(
      fail(`The user ${user} may not write to all tables`, `transfer their ownership: reassign owned by … to ${user}`),
    )
  }
  if (!mayQueue && !redis) {
    const remedy = `grant usage on schema bullmq to ${user}; grant all on all tables in schema bullmq to ${user}`
    findings.push(fail(`The user ${user} may not write to all tables of the queue`, remedy))
  }
  if (!mayCreate) {
    const remedy = `${migrationGrants(database, user)}, in the release step`
    findings.push(warn(`The user ${user} may not create tables and schemas, which migrations need`, remedy))
  }
  return findings.length > 0 ? findings : [ok(`The user ${user} has the required privileges`)]
}

async function checkConnections(client: Client, config: Config): Promise<Finding[]> {
  const { max, used } = await ask<{ max: number; used: number }>(
    client,
    `select least(
         current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
         (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
         (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
       ) as max,
       (select count(*)::integer from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()) as used`,
  )
  const [api, worker] = [connectionBudget(config, 'api').total, connectionBudget(config, 'worker').total]
  const message = `${max} connections, of which ${used} are in use; an api uses up to ${api}, a worker up to ${worker}`
  const remedy = 'raise max_connections, or lower DATABASE_POOL and QUEUE_POOL: docs/scaling.md has the calculation'
  if (max >= api + worker + Math.max(api, worker)) return [ok(message)]
  return max >= api + worker
    ? [warn(`${message}: not enough to replace a process while the old one still runs`, remedy)]
    : [fail(message, remedy)]
}

async function checkClock(client: Client): Promise<Finding[]> {
  const before = Date.now()
  const { now } = await ask<{ now: Date }>(client, 'select clock_timestamp() as now')
  const away = Math.max(0, Math.abs(now.getTime() - (before + Date.now()) / 2) - (Date.now() - before) / 2)
  const message = `The clock of this machine and the server’s differ by ${Math.round(away)} ms`
  if (away <= wantedClockMilliseconds) return [ok(message)]
  const remedy =
    'synchronise both with a time server (chrony, systemd-timesyncd): scheduled events and keys depend on them'
  return [away > maxClockMilliseconds ? fail(message, remedy) : warn(message, remedy)]
}

async function checkPooler(_client: Client, config: Config): Promise<Finding[]> {
  const found = await findPoolerProblem(config)
  return found ? [fail(found.problem, found.remedy)] : []
}

/** A pooler in transaction mode loses the notifications between processes. */
async function checkNotifications(client: Client, config: Config): Promise<Finding[]> {
  const notified = once(client, 'notification')
  // A connection that is lost meanwhile fails the statements, which report it.
  notified.catch(() => {})
  await client.query('listen isobot_doctor')
  await client.query(`notify isobot_doctor`)
  const isReceived = await Promise.race([notified.then(() => true), pause(notificationMilliseconds, false)])
  await client.query('unlisten isobot_doctor')
  if (isReceived) return [ok('Notifications arrive')]
  const remedy = 'set DATABASE_URL to the server itself, not to a pooler in transaction mode'
  const message = 'Notifications do not arrive'
  return [config.redis ? warn(message, remedy) : fail(message, remedy)]
}

async function checkMigrations(client: Client): Promise<Finding[]> {
  const { missing, unknown, isEmpty } = await readMigrationState(client)
  if (isEmpty) return [fail('The database is empty', releaseRemedy)]
  if (unknown.length > 0) {
    return [
      fail(
        `The database is newer than this code: it has the migrations ${unknown.join(', ')}`,
        'deploy the newer code again',
      ),
    ]
  }
  if (missing.length > 0) {
    return [
      fail(`The database lacks the migrations ${missing.join(', ')}`, releaseRemedy),
      ...listCautions(missing).map((caution) => warn(`After ${caution}`, 'see docs/upgrading.md')),
    ]
  }
  return [ok(`The database is up to date, with ${Object.keys(migrations).length} migrations`)]
}

/** Checks that the stored values were encrypted with this secret. */
async function checkSecret(client: Client, { secret }: Config): Promise<Finding[]> {
  const { rows } = await client.query<{ id: string; encrypted: string }>(
    `(select id, secrets as encrypted from bots where secrets is not null order by id desc limit 1)
     union all
     (select id, configuration from installations where configuration is not null order by id desc limit 1)
     union all
     (select id, secrets from integrations where secrets is not null order by id desc limit 1)`,
  )
  if (rows.length === 0) return [ok('Nothing is encrypted with ISOBOT_SECRET yet')]
  const readable = await Promise.all(
    rows.map(({ id, encrypted }) => decryptJson(secret, id, encrypted).then(Boolean, () => false)),
  )
  if (readable.every(Boolean)) return [ok('ISOBOT_SECRET decrypts the stored secrets')]
  const message = 'ISOBOT_SECRET does not decrypt the stored secrets'
  return [fail(message, 'restore the former value: without it, secrets and configurations cannot be read')]
}
