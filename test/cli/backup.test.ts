import { spawn } from 'node:child_process'
import { mkdir, readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createHash } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readConfig } from '#shared/config/config.ts'
import { openContext } from '#shared/context.ts'
import { findProcess } from '#shared/process/find-process.ts'
import { createLogger } from '#shared/telemetry/logger.ts'
import { migrate, migrationLockKey } from '../../migrations/migrations.ts'
import { startWorker } from '../../worker/worker.ts'
import { operatedDataDirectory } from '../../cli/profiles.ts'
import { createChatUser, type ChatUser } from '../support/chat-client.ts'
import { administer, createDatabase, urlOf } from '../support/databases.ts'
import { fillTables } from '../support/fill-tables.ts'
import { createDatabaseWithPgvector } from '../support/pgvector.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openCommandLine, type CommandLine, type Outcome, type RunningCommand } from './command-line.ts'

const secret = 'a secret of at least thirty-two characters'

let platform: Platform
let commandLine: CommandLine
const emptyDatabases: string[] = []
beforeAll(async () => {
  platform = await openPlatform({ backEnd: 'postgres' })
  commandLine = await openCommandLine()
})
afterAll(async () => {
  await commandLine[Symbol.asyncDispose]()
  const { DATABASE_URL: url } = platform.environment
  for (const name of emptyDatabases) await administer(url!, `drop database if exists ${name} with (force)`)
  await platform[Symbol.asyncDispose]()
})

/** A database without any table. */
async function createEmptyDatabase(): Promise<string> {
  const { DATABASE_URL: url } = platform.environment
  const name = `${new URL(url!).pathname.slice(1)}_${emptyDatabases.length}`
  // The pool of the platform is connected to its own database, so another one is the template.
  await administer(urlOf(url!, 'postgres'), `create database ${name}`)
  emptyDatabases.push(name)
  return urlOf(url!, name)
}

/** The lines of a backup without its header and manifest, which have its time. */
async function rowsIn(file: string): Promise<string[]> {
  return gunzipSync(await readFile(file))
    .toString()
    .split('\n')
    .slice(1, -2)
}

function operate(parameters: string[], databaseUrl: string, environment: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  return commandLine.run(parameters, {
    environment: { DATABASE_URL: databaseUrl, ISOBOT_SECRET: secret, ...environment },
  })
}

/** A backup of a database with a row in each table. */
async function backUpFilledDatabase(name: string): Promise<{ file: string; url: string } & AsyncDisposable> {
  const database = await createDatabase()
  await withClient(database.url, async (client) => {
    await fillTables(client, 'mark 1')
    await fillTables(client, 'mark 2')
  })
  const { code, stderr } = await operate(['backup', name], database.url)
  expect(stderr).not.toContain('error')
  expect(code).toBe(0)
  return {
    file: join(commandLine.folder, name),
    url: database.url,
    [Symbol.asyncDispose]: () => database.drop(),
  }
}

async function withClient<T>(url: string, act: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(url)
  await client.connect()
  try {
    return await act(client)
  } finally {
    await client.end()
  }
}

/** All rows, columns, keys, indexes, triggers and next numbers of a database. */
function contentsOf(url: string): Promise<Record<string, unknown>> {
  return withClient(url, async (client) => {
    const read = async (statement: string) => (await client.query({ text: statement, rowMode: 'array' })).rows
    const tables = await read(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
         and relpersistence = 'p' and relname not like 'knex%' order by 1`,
    )
    const found: Record<string, unknown> = {}
    for (const [table] of tables)
      found[String(table)] = await read(`select to_jsonb(t)::text from ${table} t order by 1`)
    found['migrations'] = await read('select name from knex_migrations order by name')
    found['constraints'] = await read(
      `select conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated from pg_constraint
       where connamespace = 'public'::regnamespace order by 1, 2`,
    )
    found['indexes'] = await read(`select indexdef from pg_indexes where schemaname = 'public' order by 1`)
    found['triggers'] = await read(
      `select tgrelid::regclass::text, tgname, tgenabled from pg_trigger where not tgisinternal order by 1, 2`,
    )
    found['numbers'] = await read(
      `select sequencename, last_value from pg_sequences where schemaname = 'public' and sequencename not like 'knex%'
       order by 1`,
    )
    return found
  })
}

/** The tables whose statistics PostgreSQL's planner has. */
function listAnalyzedTables(url: string): Promise<unknown[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ tablename: string }>(`select distinct tablename from pg_stats`)
    return rows.map(({ tablename }) => tablename)
  })
}

function listTables(url: string): Promise<unknown[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query(`select from pg_class where relnamespace = 'public'::regnamespace`)
    return rows
  })
}

test('a restored database has the rows, constraints, indexes, triggers and numbers of the one that was backed up', async () => {
  await using backup = await backUpFilledDatabase('filled.backup')
  expect((await stat(backup.file)).mode & 0o777).toBe(0o600)
  const restored = await createEmptyDatabase()
  const { code, stdout, stderr } = await operate(['restore', backup.file], restored)
  expect([code, stderr.includes('error')]).toEqual([0, false])
  expect(stdout).toMatch(/^Restored \d+ rows of \d+ tables, as of 20/)
  expect(await contentsOf(restored)).toEqual(await contentsOf(backup.url))
  expect(await listAnalyzedTables(restored)).toEqual(expect.arrayContaining(['conversations', 'events', 'messages']))

  const again = await operate(['restore', backup.file], restored)
  expect(again.code).toBe(1)
  expect(again.stderr).toMatch(/The database is not empty: it has the table accounts and \d+ others/)
  expect(await contentsOf(restored)).toEqual(await contentsOf(backup.url))
})

test('a backup passes through pipes, and names what a bucket has instead', async () => {
  const database = await createDatabase()
  await withClient(database.url, async (client) => {
    await fillTables(client, 'mark 1')
    await client.query(`update file_objects set store = 's3'`)
  })
  const taking = commandLine.start(['backup', '-'], {
    environment: { DATABASE_URL: database.url, ISOBOT_SECRET: secret },
  })
  const chunks: Buffer[] = []
  taking.child.stdout.removeAllListeners('data').setEncoding('latin1')
  taking.child.stdout.on('data', (text: string) => chunks.push(Buffer.from(text, 'latin1')))
  const taken = await taking.ended
  expect(taken.stderr).toContain('are in the bucket and not in it: back up the bucket as well')
  const restored = await createEmptyDatabase()
  const outcome = await commandLine.run(['restore', '-', '--json'], {
    input: Buffer.concat(chunks),
    environment: { DATABASE_URL: restored, ISOBOT_SECRET: secret },
  })
  expect(JSON.parse(outcome.stdout)).toMatchObject({ contentsElsewhere: 1, waitingEvents: 0 })
  await database.drop()
})

/** A backup with other lines, and the hash that belongs to them. */
function forged(lines: string[]): Buffer {
  const before = lines.slice(0, -1).map((line) => `${line}\n`)
  const manifest = JSON.parse(lines.at(-1)!) as object
  const sha256 = createHash('sha256').update(before.join('')).digest('hex')
  return gzipSync([...before, JSON.stringify({ ...manifest, sha256 }), ''].join('\n').replaceAll('\n\n', '\n'))
}

test('a file that is not whole, was altered, or is no backup is refused, and leaves the database empty', async () => {
  await using backup = await backUpFilledDatabase('original.backup')
  const whole = await readFile(backup.file)
  const lines = gunzipSync(whole).toString().trimEnd().split('\n')
  const at = (beginning: string) => lines.findIndex((line) => line.startsWith(beginning))
  const changed = (index: number, ...replacement: string[]) => lines.toSpliced(index, 1, ...replacement)
  const users = at('{"table":"users"')
  const header = JSON.parse(lines[0]!) as { migrations: string[] }
  const cases: Record<string, [content: Buffer, message: RegExp]> = {
    'half of it': [whole.subarray(0, whole.length / 2), /ends too early|was altered/],
    'all but its last line': [gzipSync(lines.slice(0, -1).join('\n')), /ends too early/],
    'another row': [
      gzipSync(`${changed(users + 1, lines[users + 1]!.replace('mark 1', 'mark 3')).join('\n')}\n`),
      /was altered/,
    ],
    'a row less, and its hash': [forged(changed(users + 1)), /does not have all rows of users/],
    'a row with a reference to nothing': [
      forged(changed(users + 1, lines[users + 1]!.replaceAll('bots.id mark 1', 'bots.id mark 9'))),
      /violates foreign key constraint/,
    ],
    'a row that is none': [forged(changed(users + 1, 'a\tb')), /The rows of users cannot be restored: missing data/],
    'a table of the server': [
      forged(changed(users, '{"table":"pg_authid","columns":["rolname"],"types":["name"]}')),
      /a table that its version does not have/,
    ],
    'a statement in place of a table': [
      forged(changed(users, `{"table":"users; drop table bots","columns":["id\\") from stdin; --"],"types":["text"]}`)),
      /a table that its version does not have/,
    ],
    'a statement in place of a column': [
      forged(changed(users, `{"table":"users","columns":["id\\") from program 'id' --"],"types":["text"]}`)),
      /has other columns/,
    ],
    'a migration of the future': [
      forged(changed(0, JSON.stringify({ ...header, migrations: [...header.migrations, '999_future'] }))),
      /newer than this code: it has the migrations 999_future/,
    ],
    'a migration named like a method': [
      forged(changed(0, JSON.stringify({ ...header, migrations: ['constructor'] }))),
      /newer than this code/,
    ],
    'a header without end': [gzipSync(Buffer.alloc(40_000_000, 'x')), /no backup of Isobot/],
    'no gzip': [Buffer.from('-- PostgreSQL database dump'), /no backup of Isobot/],
    'an empty file': [Buffer.alloc(0), /ends too early/],
  }
  const url = await createEmptyDatabase()
  for (const [name, [content, message]] of Object.entries(cases)) {
    await writeFile(join(commandLine.folder, 'tampered.backup'), content)
    const { code, stderr } = await operate(['restore', 'tampered.backup'], url)
    expect([name, code, stderr]).toEqual([name, 1, expect.stringMatching(message)])
    expect([name, await listTables(url)]).toEqual([name, []])
  }
  const { code, stderr } = await operate(['restore', 'no.backup'], url)
  expect([code, stderr]).toEqual([2, expect.stringContaining('no.backup cannot be read')])
}, 180_000)

test('a backup of another secret is refused, unless the secret is lost; during a rotation both are accepted', async () => {
  await using backup = await backUpFilledDatabase('secret.backup')
  const other = { ISOBOT_SECRET: 'another secret, of at least thirty-two characters' }
  const refused = await operate(['restore', backup.file], await createEmptyDatabase(), other)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('taken with another ISOBOT_SECRET')])
  const spaced = await operate(['restore', backup.file], await createEmptyDatabase(), { ISOBOT_SECRET: `${secret}\n` })
  expect([spaced.code, spaced.stderr]).toEqual([1, expect.stringContaining('ends with a space or a line break')])
  const rotating = await operate(['restore', backup.file], await createEmptyDatabase(), {
    ...other,
    ISOBOT_SECRET_ACCEPTED: secret,
  })
  expect(rotating.code).toBe(0)
  const lost = await operate(['restore', backup.file, '--lost-secret'], await createEmptyDatabase(), other)
  expect(lost.code).toBe(0)
}, 60_000)

test('there is no backup of an empty database, and none replaces a file', async () => {
  const { code, stderr } = await operate(['backup', 'empty.backup'], await createEmptyDatabase())
  expect([code, stderr]).toEqual([1, expect.stringContaining('there is nothing to back up')])
  await expect(stat(join(commandLine.folder, 'empty.backup'))).rejects.toThrow('ENOENT')
  await writeFile(join(commandLine.folder, 'former.backup'), 'former')
  const existing = await operate(['backup', 'former.backup'], platform.environment['DATABASE_URL']!)
  expect([existing.code, existing.stderr]).toEqual([2, expect.stringContaining('exists already')])
  expect(await readFile(join(commandLine.folder, 'former.backup'), 'utf8')).toBe('former')
})

test('a database that cannot be used is named with a remedy', async () => {
  const { DATABASE_URL: url } = platform.environment
  const cases = {
    'postgres://isobot:secret@127.0.0.1:1/isobot':
      'PostgreSQL at 127.0.0.1:1 cannot be used: connect ECONNREFUSED 127.0.0.1:1: start the server, or correct host and port',
    [urlOf(url!, 'no_such_database')]: 'create the database: createdb no_such_database',
  }
  for (const [address, problem] of Object.entries(cases)) {
    for (const command of [
      ['backup', 'never.backup'],
      ['restore', 'former.backup'],
    ]) {
      const { code, stderr } = await operate(command, address)
      expect([code, stderr]).toEqual([1, expect.stringContaining(problem)])
      expect(stderr).not.toContain('secret')
    }
  }
})

test('a restoration whose last migrations fail says that the rows are there', async () => {
  await using backup = await backUpFilledDatabase('limited.backup')
  const url = await createEmptyDatabase()
  const { pathname } = new URL(url)
  const role = `limited_${process.pid}`
  // The migrations take two connections, and the restoration one.
  await administer(url, `create role ${role} login password 'word' connection limit 1`)
  await administer(url, `alter database ${pathname.slice(1)} owner to ${role}`)
  await administer(url, `alter schema public owner to ${role}`)
  const limited = new URL(url)
  Object.assign(limited, { username: role, password: 'word' })
  const { code, stderr } = await operate(['restore', backup.file], limited.href)
  expect([code, stderr]).toEqual([1, expect.stringMatching(/All rows are restored, but .* have failed: too many conn/)])
  expect((await listTables(url)).length).toBeGreaterThan(0)
  await administer(url, `reassign owned by ${role} to current_user`)
  await administer(url, `drop owned by ${role}`)
  await administer(url, `drop role ${role}`)
})

/** Ends a command as the kernel does when memory is short, and waits until the database knows. */
async function kill({ child, ended }: RunningCommand, url: string): Promise<void> {
  process.kill(-child.pid!, 'SIGKILL')
  expect(await ended).toMatchObject({ signal: 'SIGKILL' })
  await vi.waitFor(async () => expect(await listOtherSessions(url)).toEqual([]), { timeout: 20_000 })
}

function listOtherSessions(url: string): Promise<{ query: string }[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ query: string }>(
      `select query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    return rows
  })
}

test('a restoration that is killed between its rows and the migrations is completed by the same command', async () => {
  await using backup = await backUpFilledDatabase('interrupted.backup')
  await using another = await backUpFilledDatabase('another.backup')
  const url = await createEmptyDatabase()
  const environment = { DATABASE_URL: url, ISOBOT_SECRET: secret }
  const restoring = commandLine.start(['restore', backup.file], { environment })
  await withClient(url, async (client) => {
    const held = `select from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`
    await vi.waitFor(async () => expect((await client.query(held)).rowCount).toBe(1), { timeout: 20_000, interval: 5 })
    // The next in the queue for the lock: the rows are committed then, and the migrations wait.
    await client.query('select pg_advisory_lock($1)', [migrationLockKey])
    process.kill(-restoring.child.pid!, 'SIGKILL')
    expect(await restoring.ended).toMatchObject({ signal: 'SIGKILL' })
    expect((await client.query('select from messages')).rowCount).toBe(2)
  })
  const other = await operate(['restore', another.file], url)
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('the rows of another backup')])
  const again = await operate(['restore', backup.file, '--json'], url)
  expect([again.code, again.stderr]).toEqual([0, ''])
  expect(JSON.parse(again.stdout)).toMatchObject({ rows: expect.any(Number), tables: expect.any(Number) })
  expect(await contentsOf(url)).toEqual(await contentsOf(backup.url))
  const comment = 'A comment of the operator'
  await withClient(url, (client) => client.query(`comment on table knex_migrations is '${comment}'`))
  await migrate(url)
  const third = await operate(['restore', backup.file], url)
  expect([third.code, third.stderr]).toEqual([1, expect.stringContaining('The database is not empty')])
  const kept = `select obj_description('knex_migrations'::regclass, 'pg_class') as comment`
  expect((await withClient(url, (client) => client.query(kept))).rows).toEqual([{ comment }])
}, 120_000)

test('a backup that is ended leaves nothing but a part, and not that after a signal; the next one removes the part', async () => {
  const database = await createDatabase()
  const folder = join(commandLine.folder, 'ended')
  await mkdir(folder)
  const path = join('ended', 'isobot.backup')
  const environment = { DATABASE_URL: database.url, ISOBOT_SECRET: secret }
  const files = () => readdir(folder)
  await withClient(database.url, async (client) => {
    await client.query('begin; lock table messages in access exclusive mode')
    const signalled = commandLine.start(['backup', path], { environment })
    await vi.waitFor(async () => expect(await files()).toHaveLength(1), { timeout: 20_000 })
    process.kill(-signalled.child.pid!, 'SIGTERM')
    expect((await signalled.ended).code).not.toBe(0)
    expect(await files()).toEqual([])
    const killed = commandLine.start(['backup', path], { environment })
    await vi.waitFor(async () => expect(await files()).toHaveLength(1), { timeout: 20_000 })
    process.kill(-killed.child.pid!, 'SIGKILL')
    expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
  })
  const [part] = await files()
  expect(part).toMatch(/^isobot\.backup\..+\.part$/)
  const before = new Date(Date.now() - 2 * 60_000)
  await utimes(join(folder, part!), before, before)
  // Of another run, which is still writing, and of another backup.
  const others = [`isobot.backup.0123456789abcdef.part`, `other.backup.0123456789abcdef.part`, 'isobot.backup.part']
  for (const name of others) await writeFile(join(folder, name), '')
  for (const name of others.slice(1)) await utimes(join(folder, name), before, before)
  expect(await operate(['backup', path], database.url)).toMatchObject({ code: 0 })
  expect((await files()).toSorted()).toEqual([...others, 'isobot.backup'].toSorted())
  await database.drop()
}, 120_000)

test('a restoration that is killed while it writes rows leaves the database empty', async () => {
  await using backup = await backUpFilledDatabase('killed.backup')
  const content = await readFile(backup.file)
  const url = await createEmptyDatabase()
  for (const part of [0.3, 0.7, 0.98]) {
    const restoring = commandLine.start(['restore', '-'], { environment: { DATABASE_URL: url, ISOBOT_SECRET: secret } })
    restoring.child.stdin.write(content.subarray(0, Math.floor(content.length * part)))
    const isWriting = async () =>
      expect((await listOtherSessions(url)).map(({ query }) => query).join()).toMatch(/^copy /)
    await vi.waitFor(isWriting, { timeout: 20_000 })
    await kill(restoring, url)
    expect([part, await listTables(url)]).toEqual([part, []])
  }
  const whole = await operate(['restore', backup.file], url)
  expect(whole.code).toBe(0)
  expect(await contentsOf(url)).toEqual(await contentsOf(backup.url))
}, 120_000)

test('vectors of pgvector are made again on a server without it', async () => {
  const source = await createDatabaseWithPgvector()
  await withClient(source.url, async (client) => {
    await client.query(
      'create extension vector; alter table passage_vectors alter column vector type vector using null',
    )
    await fillTables(client, 'mark 1')
  })
  const taken = await operate(['backup', 'vectors.backup'], source.url)
  expect([taken.code, taken.stderr.includes('error')]).toEqual([0, false])
  await source.drop()
  const restored = await createEmptyDatabase()
  expect((await operate(['restore', 'vectors.backup'], restored)).code).toBe(0)
  await withClient(restored, async (client) => {
    const { rows } = await client.query('select embedded_model, (select count(*) from passage_vectors) from files')
    expect(rows).toEqual([{ embedded_model: null, count: '0' }])
  })
})

test('a database of `isobot start` is backed up and restored while its platform is stopped', async () => {
  await using backup = await backUpFilledDatabase('embedded.backup')
  const folder = join(commandLine.folder, 'embedded')
  const environment = { ISOBOT_DATA_DIR: folder }
  const without = await commandLine.run(['restore', backup.file], { environment })
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('put the secret of the platform into')])
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'secret'), secret)
  const { code, stderr } = await commandLine.run(['restore', backup.file], { environment })
  expect([code, stderr.includes('error')]).toEqual([0, false])
  const again = await commandLine.run(['backup', 'again.backup'], { environment })
  expect([again.code, again.stderr.includes('error')]).toEqual([0, false])
  expect(await rowsIn(join(commandLine.folder, 'again.backup'))).toEqual(await rowsIn(backup.file))
}, 120_000)

test('the platform of a folder precedes another one that runs on the machine, also while it is stopped', async () => {
  const [settings, usual, elsewhere] = ['settings', 'stopped', 'elsewhere'].map((name) =>
    join(commandLine.folder, name),
  )
  for (const folder of [settings, usual, elsewhere]) await mkdir(folder!, { recursive: true })
  const running = spawn('sleep', ['60'])
  try {
    const { commandLine: words } = (await findProcess(running.pid!))!
    const record = { processes: [{ pid: running.pid, commandLine: words }], launchers: [], isStopping: false }
    await writeFile(join(elsewhere!, 'start.json'), JSON.stringify(record))
    await writeFile(join(settings!, 'started'), `${elsewhere}\n`)
    vi.stubEnv('ISOBOT_CONFIG_DIR', settings)
    vi.stubEnv('ISOBOT_DATA_DIR', '')
    expect(await operatedDataDirectory(usual)).toBe(elsewhere)
    await writeFile(join(usual!, 'secret'), secret)
    expect(await operatedDataDirectory(usual)).toBe(usual)
  } finally {
    vi.unstubAllEnvs()
    running.kill()
  }
})

const countingBot = `
  export const hooks = {
    async afterIncomingMessage({ event, client, state }) {
      const count = (state.conversation.count ?? 0) + 1
      await new Promise((resolve) => setTimeout(resolve, 60))
      await client.createMessage({
        conversationId: event.conversationId,
        type: 'text',
        payload: { text: 're: ' + event.preview + ', which is ' + count },
      })
      state.conversation.count = count
    },
  }`

interface Sent {
  conversationId: string
  text: string
  acknowledgedAt: number
}

function idOf({ conversationId, text }: Pick<Sent, 'conversationId' | 'text'>): string {
  return `${conversationId} ${text}`
}

/** Says one thing after the other, faster than the bot answers. */
async function sendUntil(user: ChatUser, conversationId: string, sent: Sent[], isOver: () => boolean): Promise<void> {
  for (let number = 1; !isOver(); number++) {
    const text = `message ${number}`
    const { status } = await user.send(conversationId, text)
    expect(status).toBe(201)
    sent.push({ conversationId, text, acknowledgedAt: Date.now() })
    await pause(20)
  }
}

test('a backup under load has each message that was acknowledged before it, whole, and restored workers answer each once', async () => {
  const bot = await platform.createBot(countingBot)
  const sent: Sent[] = []
  let isOver = false
  const users = await Promise.all(Array.from({ length: 8 }, () => createChatUser(bot.chatUrl)))
  const conversations = await Promise.all(users.map((user) => user.createConversation()))
  const sending = Promise.all(users.map((user, index) => sendUntil(user, conversations[index]!, sent, () => isOver)))
  sending.catch(() => {})
  await vi.waitFor(() => expect(sent.length).toBeGreaterThan(150), { timeout: 60_000, interval: 20 })
  const before = sent.length
  const taken = await operate(['backup', 'load.backup', '--json'], platform.environment['DATABASE_URL']!)
  expect([taken.code, taken.stderr]).toEqual([0, ''])
  const { takenAt } = JSON.parse(taken.stdout) as { takenAt: string }
  isOver = true
  await sending

  const url = await createEmptyDatabase()
  const restored = await operate(['restore', 'load.backup', '--json'], url)
  expect([restored.code, restored.stderr]).toEqual([0, ''])
  const { waitingEvents } = JSON.parse(restored.stdout) as { waitingEvents: number }
  expect(waitingEvents).toBeGreaterThan(0)

  const present = await withClient(url, async (client) => {
    const { rows } = await client.query<{ conversationId: string; text: string; events: number }>(
      `select conversation_id as "conversationId", payload ->> 'text' as text,
         (select count(*)::integer from events where events.message_id = messages.id) as events
       from messages where direction = 'incoming'`,
    )
    return rows
  })
  const ids = new Set(present.map(idOf))
  expect(present.filter(({ events }) => events !== 1)).toEqual([])
  expect(sent.slice(0, before).filter((message) => !ids.has(idOf(message)))).toEqual([])
  // The time in the backup tells apart what is in it and what came after it.
  const missing = sent.filter((message) => !ids.has(idOf(message)))
  expect(missing.length).toBeGreaterThan(0)
  expect(missing.filter(({ acknowledgedAt }) => acknowledgedAt < Date.parse(takenAt))).toEqual([])

  const config = readConfig({ ...platform.environment, DATABASE_URL: url, WORKER_SWEEP_SECONDS: '1' })
  await using parts = new AsyncDisposableStack()
  const context = parts.use(openContext(config, createLogger('test', 'silent')))
  parts.use(await startWorker(context))
  await vi.waitFor(async () => expect(await context.db('events').where({ status: 'pending' })).toEqual([]), {
    timeout: 60_000,
    interval: 100,
  })
  const messages = await context.db('messages').orderBy(['created_at', 'id'])
  for (const conversationId of conversations) {
    const said = messages.filter((message) => message.conversation_id === conversationId)
    const textsOf = (direction: string) =>
      said.filter((message) => message.direction === direction).map(({ payload }) => String(payload['text']))
    const received = textsOf('incoming')
    expect(received).toEqual(received.map((_text, index) => `message ${index + 1}`))
    expect(textsOf('outgoing')).toEqual(received.map((text, index) => `re: ${text}, which is ${index + 1}`))
  }
}, 240_000)
