import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { migrations } from '../../migrations/migrations.ts'
import { migrationNames } from '../../migrations/names.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import { createDatabase } from '../support/databases.ts'
import { startLoggedProcess } from '../support/logged-process.ts'

const root = join(import.meta.dirname, '..', '..')

/** A database of its own, and the environment of processes that use it. */
async function openOutdated(change: string) {
  const database = await createDatabase()
  onTestFinished(() => database.drop())
  const sql = async (statement: string) => {
    const client = new Client(database.url)
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  await sql(change)
  const environment = {
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    ISOBOT_SECRET: 'x'.repeat(32),
    PORT: String(await freePort()),
    SANDBOX_PROCESSES: '1',
  }
  return { environment, sql }
}

/** The reason for which a process does not start. */
async function refusalOf(name: 'api' | 'worker', environment: NodeJS.ProcessEnv): Promise<string> {
  const options = { cwd: root, env: environment, timeout: 30_000 }
  const { code, stdout } = await promisify(execFile)(process.execPath, [`${name}/main.js`], options).then(
    () => ({ code: 0, stdout: '' }),
    (error: { code: number; stdout: string }) => error,
  )
  expect(code).toBe(1)
  const [line] = stdout.split('\n').map((text) => JSON.parse(text || '{}') as { msg?: string; err: Error })
  expect(line).toHaveProperty('msg', 'Start failed')
  return line!.err.message
}

test.each(['api', 'worker'] as const)(
  'a process (%s) does not start before the release step, names the migrations that the database lacks, and starts afterwards',
  async (name) => {
    const { environment, sql } = await openOutdated(
      `delete from knex_migrations where name in ('061_handovers', '114_message_counts')`,
    )
    expect(await refusalOf(name, environment)).toBe(
      'The database lacks the migrations 061_handovers, 114_message_counts: run the release step: node migrations/migrate.js',
    )
    // As after a newer release, whose processes this one runs beside.
    await sql(`insert into knex_migrations (name) values ('061_handovers'), ('114_message_counts'), ('999_future')`)
    const started = startLoggedProcess(name, environment)
    onTestFinished(() => started.stop())
    const messages = () => started.lines().map(({ msg }) => msg)
    await expect.poll(messages, { timeout: 30_000 }).toContain(name === 'api' ? 'Listening' : 'Working')
  },
)

test('a process does not start on an empty database, and names the release step', async () => {
  const { environment } = await openOutdated('alter table knex_migrations rename to other_migrations')
  const message = 'The database is empty: run the release step: node migrations/migrate.js'
  expect(await refusalOf('api', environment)).toBe(message)
})

test('the names that processes compare are those of all migrations', () => {
  expect(migrationNames).toEqual(Object.keys(migrations).toSorted())
})
