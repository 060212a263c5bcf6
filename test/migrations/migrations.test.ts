import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import knex from 'knex'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureAdministrator } from '#shared/process/bootstrap.ts'
import { newId } from '#shared/ids.ts'
import { openDatabase, type Database } from '#shared/store/database.ts'
import type { Role } from '#shared/models/tables.ts'
import { migrate, migrationLockKey, migrations } from '../../migrations/migrations.ts'
import { createDatabase, type TestDatabase } from '../support/databases.ts'

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase({ url: database.url, poolSize: 4, allowSelfSigned: false })
})
afterAll(async () => {
  await db.destroy()
  await database.drop()
})

test('migrating again, and from several places at once, changes nothing', async () => {
  await Promise.all([migrate(database.url), migrate(database.url)])
  expect(await db('bots')).toEqual([])
})

test('a lock that a killed migration left does not stop the next one', async () => {
  await db('knex_migrations_lock').update({ is_locked: 1 })
  await expect(migrate(database.url)).resolves.toEqual([])
})

test('a database that is newer than the code is refused', async () => {
  await db('knex_migrations').insert({ name: '999_from_the_future', batch: 9, migration_time: new Date() })
  await expect(migrate(database.url)).rejects.toThrow(/999_from_the_future/)
  await db('knex_migrations').where({ name: '999_from_the_future' }).delete()
})

test('migrations wait for locks longer than the time limits of the database, with a lock that no pooler can keep', async () => {
  const own = await createDatabase()
  const other = knex({ client: 'pg', connection: own.url })
  const [last, { down }] = Object.entries(migrations).at(-1)!
  await down!(other)
  await other('knex_migrations').where({ name: last }).delete()
  await other.raw(`alter database "${new URL(own.url).pathname.slice(1)}" set statement_timeout = 300`)
  const blocker = await other.transaction()
  // Whichever of them the last migration changes.
  const tables = await blocker('pg_tables')
    .where('schemaname', 'public')
    .whereNot('tablename', 'like', 'knex%')
    .pluck('tablename')
  await blocker.raw(`lock table ${tables.join(', ')} in access exclusive mode`)
  const outcome = migrate(own.url).catch((error: unknown) => String(error))
  /** The states of the sessions that have the advisory lock while another one has waited for a second. */
  const findHolders = async () => {
    const { rows } = await other.raw(`
      select state from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and granted and objid = ${migrationLockKey} and pg_locks.database = (select oid from pg_database where datname = current_database())
        and exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query_start < clock_timestamp() - interval '1 second')`)
    return rows
  }
  await expect.poll(findHolders, { timeout: 10_000 }).toEqual([{ state: 'idle in transaction' }])
  await blocker.rollback()
  expect(await outcome).toEqual([last])
  await other.destroy()
  await own.drop()
})

test('the connection with the lock is never idle for long, and a release step that lost it ends with a remedy, while another one waits for its migration', async () => {
  const own = await createDatabase()
  const other = knex({ client: 'pg', connection: own.url })
  const names = ['127_events_for_workflows', '128_pending_events_of_workflows']
  for (const name of names.toReversed()) await migrations[name]!.down!(other)
  await other('knex_migrations').whereIn('name', names).delete()
  const blocker = await other.transaction()
  await blocker.raw('lock table events in access exclusive mode')
  const first = migrate(own.url).catch((error: unknown) => String(error))
  const findHolders = async (): Promise<{ pid: number; state_change: Date }[]> => {
    const { rows } = await other.raw(`
      select pid, state_change from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and granted and objid = ${migrationLockKey}
        and pg_locks.database = (select oid from pg_database where datname = current_database())`)
    return rows
  }
  const countWaiting = async () => {
    const { rows } = await other.raw(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length as number
  }
  await expect.poll(countWaiting, { timeout: 10_000 }).toBe(1)
  const [holder] = await findHolders()
  const lastUse = async () => Number((await findHolders())[0]!.state_change)
  await expect.poll(lastUse, { timeout: 5000 }).toBeGreaterThan(Number(holder!.state_change))
  await other.raw('select pg_terminate_backend(?)', [holder!.pid])
  const second = migrate(own.url)
  await expect.poll(countWaiting, { timeout: 10_000 }).toBe(2)
  await blocker.rollback()
  expect(await first).toMatch(/^LostLockError: .*terminating connection.*: run the release step again$/)
  expect(await second).toEqual([])
  expect(await other('knex_migrations').whereIn('name', names)).toHaveLength(2)
  await other.destroy()
  await own.drop()
})

test('every migration can be taken back, and made again', async () => {
  const own = await createDatabase()
  const other = knex({ client: 'pg', connection: own.url })
  for (const migration of Object.values(migrations).toReversed()) await migration.down?.(other)
  expect(await other.schema.hasTable('bots')).toBe(false)
  for (const migration of Object.values(migrations)) await migration.up(other)
  expect(await other.schema.hasTable('workflows')).toBe(true)
  await other.destroy()
  await own.drop()
})

test('members who were added by their address stay where the account was made or made the workspace, and are invited elsewhere', async () => {
  const own = await createDatabase()
  const other = knex({ client: 'pg', connection: own.url })
  const { up, down } = migrations['016_invitations']!
  await down!(other)
  /** As the version before made workspaces and accounts: what belongs together in one transaction. */
  const make = (workspace: string | undefined, account: string | undefined, member: [string, string, Role]) =>
    other.transaction(async (transaction) => {
      if (workspace) await transaction('workspaces').insert({ id: workspace, name: workspace })
      if (account) {
        await transaction('accounts').insert({ id: account, name: account, email: `${account}@example.com` })
        const hash = Buffer.from(account)
        await transaction('tokens').insert({ id: `pat_${account}`, hash, kind: 'personal', account_id: account })
      }
      const [workspace_id, account_id, role] = member
      await transaction('members').insert({ workspace_id, account_id, role })
      await transaction.raw('select pg_sleep(0.005)')
    })
  await make('a', 'ann', ['a', 'ann', 'owner'])
  await make('b', 'bob', ['b', 'bob', 'owner'])
  await make(undefined, 'eve', ['a', 'eve', 'owner'])
  await make('c', undefined, ['c', 'eve', 'owner'])
  await make(undefined, undefined, ['b', 'eve', 'administrator'])
  await make(undefined, 'kim', ['a', 'kim', 'viewer'])
  await make(undefined, undefined, ['b', 'kim', 'viewer'])
  await other('members').where({ workspace_id: 'a', account_id: 'kim' }).delete()
  await up(other)

  const members = await other('members')
    .join('accounts', 'accounts.id', 'account_id')
    .orderBy(['workspace_id', 'members.email'])
    .select('workspace_id', 'account_id', 'role', 'members.email', 'accepted_at', 'name')
  const accepted = members.filter(({ accepted_at: acceptedAt }) => acceptedAt !== null)
  expect(accepted.map(({ workspace_id: workspace, account_id: account }) => `${workspace} ${account}`)).toEqual([
    'a ann',
    'a eve',
    'b bob',
    'c eve',
  ])
  expect(members.filter((member) => !accepted.includes(member))).toMatchObject([
    { workspace_id: 'b', role: 'administrator', email: 'eve@example.com', name: 'eve@example.com' },
    { workspace_id: 'b', role: 'viewer', email: 'kim@example.com', name: 'kim@example.com' },
  ])
  const tokens = await other('tokens').orderBy('account_id').select('account_id')
  // Of an account that is a member nowhere any more nothing is left, as ever.
  expect(tokens.map(({ account_id: account }) => account)).toEqual(['ann', 'bob', 'eve'])
  await other.destroy()
  await own.drop()
})

test('each migration ends before the next one waits for requests, and is repeated when it deadlocks with them', async () => {
  const own = await createDatabase()
  const other = knex({ client: 'pg', connection: own.url })
  const names = ['120_installation_removals', '121_states_of_owners']
  for (const name of names.toReversed()) await migrations[name]!.down?.(other)
  await other('knex_migrations').whereIn('name', names).delete()
  // The migration looks for a deadlock once, after the request has asked for its lock; the request does not look.
  await other.raw(
    `do $$ begin execute format('alter database %I set deadlock_timeout = ''2s''', current_database()); end $$`,
  )
  const request = new Client(own.url)
  await request.connect()
  await request.query(`set deadlock_timeout = '1min'; begin; lock table conversations in row exclusive mode`)
  const migrating = migrate(own.url)
  const waits = () => other('pg_locks').where({ granted: false, relation: other.raw(`'conversations'::regclass`) })
  await expect.poll(waits, { interval: 10, timeout: 20_000 }).toHaveLength(1)
  const done: string[] = await other('knex_migrations').pluck('name')
  await request.query('lock table users in row exclusive mode')
  await request.query('commit')
  expect(await migrating).toEqual(names)
  expect(names.map((name) => done.includes(name))).toEqual([true, false])
  await request.end()
  await other.destroy()
  await own.drop()
})

test('the release step says in one line which database it cannot use, and the remedy', async () => {
  const release = promisify(execFile)(process.execPath, ['migrations/migrate.js'], {
    cwd: join(import.meta.dirname, '../..'),
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: 'postgres://isobot:password@127.0.0.1:1/isobot',
      ISOBOT_SECRET: 'x'.repeat(32),
    },
  })
  await expect(release).rejects.toMatchObject({
    code: 1,
    stderr:
      'PostgreSQL at 127.0.0.1:1 cannot be used: connect ECONNREFUSED 127.0.0.1:1: ' +
      'start the server, or correct host and port in DATABASE_URL\n',
  })
})

test('the release step, as a program, brings an older database up to date without pg_trgm, and runs again', async () => {
  const own = await createDatabase()
  const other = knex({ client: 'pg', connection: own.url })
  try {
    const token = 'the-token-of-the-administrator'
    const workspaceId = await ensureAdministrator(other, token)
    const names = Object.keys(migrations)
    const newer = names.slice(names.indexOf('036_file_objects'))
    for (const name of newer.toReversed()) await migrations[name]!.down?.(other)
    await other('knex_migrations').whereIn('name', newer).delete()
    await other.raw('drop extension if exists pg_trgm cascade')
    await other('bots').insert({ id: 'b', workspace_id: workspaceId, name: 'b' })
    const release = () =>
      promisify(execFile)(process.execPath, ['migrations/migrate.js'], {
        cwd: join(import.meta.dirname, '../..'),
        env: {
          PATH: process.env['PATH'],
          DATABASE_URL: own.url,
          ISOBOT_ADMIN_TOKEN: token,
          ISOBOT_SECRET: 'x'.repeat(32),
        },
      })
    const cautions = [
      expect.stringMatching(
        /^061_handovers: workers of the former version hand events to the bot although people answer/,
      ),
      expect.stringMatching(/^063_role_agent: /),
      expect.stringMatching(/^074_bundles: /),
      expect.stringMatching(/^113_conversations_by_newest_message: /),
      expect.stringMatching(/^115_script_checks: /),
    ]
    const printed = ['The database is up to date', `The administrator's workspace is ${workspaceId}`, '']
    expect((await release()).stdout.split('\n')).toEqual(printed.toSpliced(1, 0, ...cautions))
    expect((await release()).stdout.split('\n')).toEqual(printed)
    expect(await other('knex_migrations').pluck('name')).toEqual(names)
    expect(await other('bots').pluck('id')).toContain('b')
    await other('files').insert({ id: 'f', bot_id: 'b', key: 'k', content_type: 'text/plain' })
    expect(await other('file_usage')).toMatchObject([{ bot_id: 'b', files: '1' }])
  } finally {
    await other.destroy()
    await own.drop()
  }
})

test('the administrator is made once, and a changed token replaces the one before', async () => {
  const tokens = ['the first token of all', 'the first token of all', 'a token that came after']
  const workspaces = []
  for (const token of tokens) workspaces.push(await ensureAdministrator(db, token))
  expect(new Set(workspaces).size).toBe(1)
  expect(await db('accounts')).toHaveLength(1)
  expect(await db('tokens')).toHaveLength(1)
  await Promise.all(tokens.map((token) => ensureAdministrator(db, token)))
  expect(await db('tokens')).toHaveLength(1)
})

test('of users and conversations that are there, those with another’s id lose it, and keys keep to whom they were made for', async () => {
  const own = await createDatabase()
  const other = knex({ client: 'pg', connection: own.url })
  try {
    const separating = ['015_bound_keys', '035_separate_ids'].map((name) => migrations[name]!)
    for (const migration of separating.toReversed()) await migration.down?.(other)
    await other('workspaces').insert({ id: 'w', name: 'w' })
    await other('bots').insert({ id: 'b', workspace_id: 'w', name: 'b' })
    const installation = { bot_id: 'b', integration: 'chat', has_webhook: false }
    await other('installations').insert(
      ['here', 'there'].map((id) => ({ ...installation, id, alias: id, webhook_id: id })),
    )
    const [victim, group, late] = [newId('user'), newId('conv'), newId('user')]
    const place = { bot_id: 'b', installation_id: 'here' }
    const created_at = new Date('2026-01-01T00:00:00Z')
    await other('users').insert([
      { ...place, id: victim },
      { ...place, id: 'shadow', foreign_id: victim, tags: { fid: victim }, created_at },
      { ...place, id: 'elsewhere', installation_id: 'there', foreign_id: victim, created_at },
      { ...place, id: 'named', foreign_id: 'bob', tags: { fid: 'bob' }, created_at },
      { ...place, id: 'signed', foreign_id: 'eve', created_at },
      // Nobody has the id any more: this is who connected again with the key of a deleted user.
      { ...place, id: 'again', foreign_id: late, created_at },
    ])
    await other('conversations').insert([
      { ...place, id: group, channel: 'channel' },
      { ...place, id: 'shadow', channel: 'channel', foreign_id: group },
      { ...place, id: 'named', channel: 'channel', foreign_id: 'talk' },
    ])
    const before = Date.now()
    for (const migration of separating) await migration.up(other)

    const users = await other('users').orderBy('id')
    const named = Object.fromEntries(users.map((row) => [row.id, row.foreign_id]))
    expect(named).toEqual({ [victim]: null, shadow: null, elsewhere: victim, named: 'bob', signed: 'eve', again: late })
    const since = Object.fromEntries(users.map((row) => [row.id, row.keys_since]))
    expect(since).toMatchObject({ named: created_at, shadow: created_at, signed: null, again: null })
    expect(since[victim]!.getTime()).toBeGreaterThan(before - 60_000)
    const conversations = await other('conversations').orderBy('id')
    expect(Object.fromEntries(conversations.map((row) => [row.id, row.foreign_id]))).toEqual({
      [group]: null,
      shadow: null,
      named: 'talk',
    })
    // Those that keep such an id can still be changed.
    await other('users').where({ id: 'again' }).update({ name: 'Late' })
  } finally {
    await other.destroy()
    await own.drop()
  }
})

const at = (time: string) => new Date(`2026-01-01T${time}Z`)

test('conversations that are there get the time of their newest message, or of their creation, and the ten minutes of it', async () => {
  const own = await createDatabase()
  const other = knex({ client: 'pg', connection: own.url })
  try {
    const { up, down } = migrations['113_conversations_by_newest_message']!
    await down!(other)
    await other('workspaces').insert({ id: 'w', name: 'w' })
    await other('bots').insert({ id: 'b', workspace_id: 'w', name: 'b' })
    await other('installations').insert({ id: 'i', bot_id: 'b', integration: 'chat', alias: 'i', webhook_id: 'i' })
    const place = { bot_id: 'b', installation_id: 'i', channel: 'channel', created_at: at('00:00:00') }
    await other('conversations').insert(['spoken', 'silent', 'imported'].map((id) => ({ ...place, id })))
    const message = { bot_id: 'b', user_id: 'u', type: 'text', payload: {}, direction: 'incoming' as const }
    const sent = [
      ['spoken', at('01:00:00')],
      ['spoken', at('02:17:30')],
      ['imported', new Date('2025-01-01T00:00:00Z')],
    ] as const
    await other('messages').insert(
      sent.map(([conversation_id, time], index) => ({
        ...message,
        id: `m${index}`,
        conversation_id,
        created_at: time,
        updated_at: time,
      })),
    )
    await up(other)
    const rows = await other('conversations').orderBy('id')
    expect(rows.map(({ id, messaged_at, messaged_in }) => [id, messaged_at, messaged_in])).toEqual([
      ['imported', at('00:00:00'), at('00:00:00')],
      ['silent', at('00:00:00'), at('00:00:00')],
      ['spoken', at('02:17:30'), at('02:10:00')],
    ])
  } finally {
    await other.destroy()
    await own.drop()
  }
})
