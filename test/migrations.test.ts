import knex from 'knex'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensureAdministrator } from '#shared/bootstrap.ts'
import { openDatabase, type Database } from '#shared/store/database.ts'
import { migrate, migrations } from '../migrations/migrate.ts'
import { createDatabase, type TestDatabase } from './databases.ts'

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
  await expect(migrate(database.url)).resolves.toBeUndefined()
})

test('a database that is newer than the code is refused', async () => {
  await db('knex_migrations').insert({ name: '999_from_the_future', batch: 9, migration_time: new Date() })
  await expect(migrate(database.url)).rejects.toThrow(/999_from_the_future/)
  await db('knex_migrations').where({ name: '999_from_the_future' }).delete()
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
