import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readConfig, type Config } from '#shared/config/config.ts'
import { checkDatabase } from '../../cli/doctor/database.ts'
import { examine, type Examination } from '../../cli/doctor/examine.ts'
import type { Finding } from '../../cli/doctor/finding.ts'
import { checkRedis } from '../../cli/doctor/redis.ts'
import { checkSettings } from '../../cli/doctor/settings.ts'
import { checkWorkers } from '../../cli/doctor/workers.ts'
import { chooseAccount } from '../../cli/postgres/account.ts'
import { freePort } from '../../cli/postgres/free-port.ts'
import { createChatUser } from '../support/chat-client.ts'
import { administer, createDatabase, urlOf } from '../support/databases.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { startRedis } from '../support/redis.ts'
import { findSystemProgram } from '../support/system-package.ts'
import { openCommandLine, type CommandLine } from './command-line.ts'

let platform: Platform
let commandLine: CommandLine
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  commandLine = await openCommandLine()
})
afterAll(async () => {
  await commandLine[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

/** The configuration of the platform of these tests with some of its variables changed. */
function configWith(changes: NodeJS.ProcessEnv): Config {
  return readConfig({ ISOBOT_BASE_URL: platform.url, ...platform.environment, ...changes })
}

/** The remedies of the findings that are not in order, by their problems. */
function problemsIn(findings: Finding[]): Record<string, string | undefined> {
  const problems = findings.filter(({ grade }) => grade !== 'ok')
  return Object.fromEntries(problems.map(({ grade, message, remedy }) => [`${grade}: ${message}`, remedy]))
}

async function foundInDatabase(changes: NodeJS.ProcessEnv): Promise<Record<string, string | undefined>> {
  return problemsIn(await checkDatabase(configWith(changes)))
}

test('finds nothing wrong with a platform that works, and says what it looked at', async () => {
  const environment = { ISOBOT_BASE_URL: platform.url, ...platform.environment }
  const { code, stdout } = await commandLine.run(['doctor'], { environment })
  expect(stdout).not.toContain('✗')
  expect(code).toBe(0)
  const areas = stdout.split('\n').filter((line) => /^\w+$/.test(line))
  expect(areas).toEqual(['Settings', 'Machine', 'Database', 'Redis', 'Sandbox', 'Address', 'Workers'])
  expect(stdout).toMatch(/✓ \d+ variables are set, and all are valid/)
  expect(stdout).toMatch(/✓ PostgreSQL \d+.* answers/)
  expect(stdout).toMatch(/an api uses up to 5, a worker up to 5/)
  expect(stdout).toMatch(/✓ The database is up to date, with \d+ migrations/)
  expect(stdout).toMatch(/✓ Notifications arrive/)
  expect(stdout).toMatch(/✓ Redis \d+\.\d+.* answers/)
  expect(stdout).toMatch(/✓ These isolation layers are active: permissions/)
  expect(stdout).toContain(`✓ The api answers at ${platform.url} and is ready`)
  expect(stdout).toMatch(/differ by \d+ ms/)
  expect(stdout).toMatch(/\n0 failures, \d+ warnings?\n|\nNo problems found\n/)
})

test('reports all invalid settings at once, ends with 1, and shows no value', async () => {
  const directory = join(commandLine.folder, 'project')
  await mkdir(directory)
  const variables = [
    'DATABASE_URL=mysql://root:hidden-password@host',
    'ISOBOT_SECRET=too-short',
    'SANDBOX_PROCESES=2',
    'MODELS_ULR=x',
  ]
  await writeFile(join(directory, '.env'), variables.join('\n'))
  const { code, stdout } = await commandLine.run(['doctor', '--json'], { directory, environment: { PORT: 'eighty' } })
  expect(code).toBe(1)
  const examination = JSON.parse(stdout) as Examination
  expect(examination.failures).toBe(3)
  expect(problemsIn(examination.findings.filter(({ area }) => area === 'Settings'))).toEqual({
    'fail: DATABASE_URL must match pattern "^postgres(ql)?://"': expect.stringContaining(
      'postgres://user:password@host',
    ),
    'fail: ISOBOT_SECRET must NOT have fewer than 32 characters': expect.stringContaining('openssl rand -hex 32'),
    'fail: PORT must be integer': expect.any(String),
    'warn: SANDBOX_PROCESES is set, but Isobot has no such setting': expect.stringContaining('SANDBOX_PROCESSES'),
    'warn: MODELS_ULR is set, but Isobot has no such setting': expect.stringContaining('MODELS_URL'),
  })
  expect(stdout).not.toMatch(/hidden-password|too-short|eighty/)
})

test('knows secrets that can be guessed, and addresses that everybody can listen in on', async () => {
  const changes = { ISOBOT_SECRET: 'secret'.repeat(6), ISOBOT_BASE_URL: 'http://bots.example.invalid' }
  expect(problemsIn(checkSettings({ ...platform.environment, ...changes }).findings)).toEqual({
    'warn: ISOBOT_SECRET can be guessed: it has few distinct characters': expect.stringContaining('replace it'),
    'warn: ISOBOT_BASE_URL is http://bots.example.invalid: tokens and keys cross the network unencrypted':
      expect.stringContaining('https://'),
  })
})

test('knows a secret that what is stored was not encrypted with', async () => {
  const { status } = await platform.ask('POST', '/v1/admin/bots', { secrets: { WEATHER: 'rain' } })
  expect(status).toBe(200)
  expect(await foundInDatabase({})).toEqual({})
  expect(await foundInDatabase({ ISOBOT_SECRET: 'another one of more than 32 characters' })).toEqual({
    'fail: ISOBOT_SECRET does not decrypt the stored secrets': expect.stringContaining('former'),
  })
})

test('distinguishes an unreachable database from a wrong password, a missing database, an empty one, and ones of other releases', async () => {
  const url = platform.environment['DATABASE_URL']!
  expect(await foundInDatabase({ DATABASE_URL: 'postgres://isobot:secret-word@127.0.0.1:1/isobot' })).toEqual({
    [`fail: PostgreSQL at 127.0.0.1:1 cannot be used: connect ECONNREFUSED 127.0.0.1:1`]:
      expect.stringContaining('start'),
  })
  expect(Object.keys(await foundInDatabase({ DATABASE_URL: 'postgres://isobot@/isobot?host=/nowhere' }))).toEqual([
    expect.stringMatching('^fail: PostgreSQL at /nowhere:5432 cannot be used: connect ENOENT'),
  ])
  const [missing] = Object.entries(await foundInDatabase({ DATABASE_URL: urlOf(url, 'nowhere') }))
  expect(missing).toEqual([
    expect.stringContaining('database "nowhere" does not exist'),
    'create the database: createdb nowhere',
  ])

  const empty = `${new URL(url).pathname.slice(1)}_empty`
  await administer(url, `create database ${empty}`)
  try {
    expect(await foundInDatabase({ DATABASE_URL: urlOf(url, empty) })).toEqual({
      'fail: The database is empty': 'run the release step: node migrations/migrate.js',
    })
  } finally {
    await administer(url, `drop database ${empty}`)
  }

  const database = await createDatabase()
  const change = async (statement: string) => {
    const client = new Client({ connectionString: database.url })
    await client.connect()
    await client.query(statement)
    await client.end()
  }
  try {
    await change(`delete from knex_migrations where name = '013_administration'`)
    expect(await foundInDatabase({ DATABASE_URL: database.url })).toEqual({
      'fail: The database lacks the migrations 013_administration': 'run the release step: node migrations/migrate.js',
    })
    await change(`delete from knex_migrations where name = '061_handovers'`)
    expect(Object.keys(await foundInDatabase({ DATABASE_URL: database.url }))).toContainEqual(
      expect.stringMatching('warn: After 061_handovers: workers of the former version hand events to the bot'),
    )
    await change(`insert into knex_migrations (name, batch, migration_time) values ('999_future', 9, now())`)
    expect(await foundInDatabase({ DATABASE_URL: database.url })).toHaveProperty([
      'fail: The database is newer than this code: it has the migrations 999_future',
    ])
  } finally {
    await database.drop()
  }
})

test('reckons up connections, for the processes that there will be', async () => {
  const problems = await foundInDatabase({ DATABASE_POOL: '200' })
  expect(Object.keys(problems)).toEqual([expect.stringMatching(/^fail: \d+ connections, .* an api uses up to 201/)])
})

test('refuses a pooler in transaction mode or without enough connections, and not one in session mode', async ({
  skip,
}) => {
  const found = await findSystemProgram({
    what: 'PgBouncer',
    names: ['pgbouncer'],
    aptPackages: ['pgbouncer'],
    remedy: 'The test is skipped without it.',
  }).catch((error: Error) => error)
  if (found instanceof Error) return skip(found.message)
  const losing = expect.stringContaining('loses prepared statements')
  const full = expect.stringContaining('too few free connections')
  const cases = [
    { mode: 'transaction', poolSize: 20, named: [losing], exitCode: 1 },
    { mode: 'transaction', poolSize: 1, named: [losing], exitCode: 1 },
    { mode: 'session', poolSize: 20, named: [], exitCode: 0 },
    // A process waits for it, as others may close their connections.
    { mode: 'session', poolSize: 1, named: [full], exitCode: 0 },
  ]
  for (const { mode, poolSize, named, exitCode } of cases) {
    await using pooler = await startPgBouncer(found, mode, poolSize)
    const url = new URL(platform.environment['DATABASE_URL']!)
    url.port = pooler.port
    const changes = { DATABASE_URL: url.href, REDIS_URL: '' }
    const problems = Object.keys(await foundInDatabase(changes)).filter((each) => each.includes('pooler'))
    expect(problems).toEqual(named)

    const environment = { ...platform.environment, ...changes }
    const release = promisify(execFile)(process.execPath, ['migrations/migrate.js'], { env: environment })
    const { stderr } = await release.catch((error: { stderr: string }) => error)
    expect(stderr).toMatch(named.length === 0 ? /^$/ : /^DATABASE_URL leads to a pooler .*: (set|raise) /)
    const started = promisify(execFile)(process.execPath, ['api/main.js'], {
      env: { ...environment, ISOBOT_PARENT: 'stdin', LOG_LEVEL: 'error', PORT: String(await freePort()) },
    })
    started.child.stdin!.end()
    const { code, stdout } = await started.then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: { code: number; stdout: string }) => error,
    )
    expect(code).toBe(exitCode)
    expect([...new Set(stdout.match(/leads to a pooler [^:]*/g))]).toEqual(named)
  }
}, 120_000)

/** Starts a PgBouncer in front of the server of the tests. It ends with its input. */
async function startPgBouncer(
  program: string,
  mode: string,
  poolSize: number,
): Promise<AsyncDisposable & { port: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'isobot-pgbouncer-'))
  const { port, username, password } = new URL(platform.environment['DATABASE_URL']!)
  const own = String(await freePort())
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
    * = host=127.0.0.1 port=${port} user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${own}
    unix_socket_dir =
    auth_type = any
    pool_mode = ${mode}
    default_pool_size = ${poolSize}
    `.replaceAll(/^ +/gm, ''),
  )
  const { prefix, account } = await chooseAccount({ directory: folder, programs: [program] })
  const [command, ...parameters] = [...prefix, program, join(folder, 'pgbouncer.ini')]
  const server = spawn(command, parameters, { ...account, stdio: 'ignore' })
  const ended = once(server, 'exit')
  await vi.waitFor(() => once(connect(Number(own), '127.0.0.1'), 'connect'), { timeout: 10_000 })
  return {
    port: own,
    async [Symbol.asyncDispose]() {
      server.kill()
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

test('detects a Redis that evicts keys or refuses writes', async () => {
  const server = await startRedis()
  const redis = new Redis(server.url)
  const full = `OOM command not allowed when used memory > 'maxmemory'.`
  try {
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
    const found = async () => problemsIn(await checkRedis(configWith({ REDIS_URL: server.url })))
    const [harmless] = Object.keys(await found())
    expect(harmless).toMatch(
      /^warn: .* maxmemory-policy is allkeys-lru, which takes effect as soon as maxmemory is set$/,
    )
    await redis.config('SET', 'maxmemory', '100mb')
    const [harmful] = Object.entries(await found())
    expect(harmful).toEqual([
      expect.stringMatching(/^fail: .* a full Redis deletes jobs/),
      expect.stringContaining('maxmemory-policy noeviction'),
    ])
    await redis.config('SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1')
    expect(await found()).toEqual({
      [`fail: Redis refuses writes: ${full}`]: expect.stringContaining('raise maxmemory'),
    })
    await redis.config('SET', 'maxmemory', '0')
    await redis.replicaof('127.0.0.1', '1')
    expect(Object.entries(await found())).toEqual([
      [expect.stringMatching(/^fail: Redis refuses writes: READONLY/), expect.stringContaining('the primary')],
    ])
  } finally {
    redis.disconnect()
    await server.stop()
  }
  const node = await startRedis({ isCluster: true })
  try {
    expect(problemsIn(await checkRedis(configWith({ REDIS_URL: node.url })))).toEqual({
      'fail: Redis runs as a cluster': expect.stringContaining('a single server'),
      'fail: Redis refuses writes: CLUSTERDOWN Hash slot not served': expect.stringContaining('a single server'),
    })
  } finally {
    await node.stop()
  }
  const away = await checkRedis(configWith({ REDIS_URL: 'redis://127.0.0.1:1' }))
  expect(Object.keys(problemsIn(away))).toEqual([expect.stringMatching(/^fail: Redis at 127.0.0.1:1 cannot/)])
})

async function foundInRedis(address: string): Promise<[string, string | undefined][]> {
  return Object.entries(problemsIn(await checkRedis(configWith({ REDIS_URL: address, REDIS_PREFIX: 'here' }))))
}

test('names what is wrong with the address of a Redis, or with its user', async () => {
  const server = await startRedis()
  const redis = new Redis(server.url)
  const { host } = new URL(server.url)
  try {
    expect(await foundInRedis(`${server.url}/99`)).toEqual([
      ['fail: Redis has no database 99: ERR DB index is out of range', expect.stringContaining('raise databases')],
    ])
    expect(await foundInRedis(`${server.url}/1`)).toEqual([])
    for (const refused of ['bzpopmin', 'xadd', 'evalsha', 'subscribe', 'publish']) {
      await redis.call(
        'ACL',
        'SETUSER',
        'narrow',
        'reset',
        'on',
        '>word',
        'allcommands',
        'allkeys',
        'allchannels',
        `-${refused}`,
      )
      expect([refused, await foundInRedis(`redis://narrow:word@${host}`)]).toEqual([
        refused,
        [
          [
            expect.stringMatching(/^fail: The user narrow may not use Redis as the queue and the signals do: /),
            expect.stringContaining('ACL SETUSER narrow allcommands'),
          ],
        ],
      ])
    }
    for (const [keys, channels] of [
      ['~other:*', 'allchannels'],
      ['allkeys', 'resetchannels'],
    ] as const) {
      await redis.call('ACL', 'SETUSER', 'narrow', 'reset', 'on', '>word', 'allcommands', keys, channels)
      expect(await foundInRedis(`redis://narrow:word@${host}`)).toEqual([
        [expect.stringMatching(/NOPERM|no permission/i), expect.stringContaining('~here* &here*')],
      ])
    }
    await redis.call('ACL', 'SETUSER', 'narrow', 'reset', 'on', '>word', 'allcommands', '~here*', '&here*')
    expect(await foundInRedis(`redis://narrow:word@${host}`)).toEqual([])
    expect(await foundInRedis(`redis://narrow:wrong@${host}`)).toEqual([
      [expect.stringContaining('WRONGPASS'), expect.stringContaining('the right user and password')],
    ])
    const clients = String(await redis.call('CLIENT', 'LIST'))
      .trim()
      .split('\n').length
    await redis.config('SET', 'maxclients', String(clients))
    expect(await foundInRedis(server.url)).toEqual([
      [expect.stringContaining('cannot be used'), expect.stringContaining('raise maxclients')],
    ])
    await redis.config('SET', 'maxclients', '1000')
    await redis.config('SET', 'requirepass', 'word')
    expect(await foundInRedis(server.url)).toEqual([
      [expect.stringContaining('NOAUTH'), expect.stringContaining('the right user and password')],
    ])
  } finally {
    redis.disconnect()
    await server.stop()
  }
})

/** A user without rights, and its address in a database that has all tables or none. */
async function openLimited(isEmpty: boolean) {
  const url = platform.environment['DATABASE_URL']!
  const own = isEmpty ? undefined : await createDatabase()
  const name = own ? new URL(own.url).pathname.slice(1) : `${new URL(url).pathname.slice(1)}_limited`
  const role = `doctor_${process.pid}`
  if (isEmpty) await administer(url, `create database ${name}`)
  await administer(url, `create role ${role} login password 'word'`)
  const limited = new URL(urlOf(url, name))
  Object.assign(limited, { username: role, password: 'word' })
  return {
    name,
    role,
    url: limited.href,
    change: (statement: string) => administer(urlOf(url, name), statement),
    async [Symbol.asyncDispose]() {
      await administer(url, `drop database ${name} with (force)`)
      await administer(url, `drop role ${role}`)
    },
  }
}

test('names the rights that a user of PostgreSQL lacks, and a database that is read-only', async () => {
  await using limited = await openLimited(false)
  const { name, role, url, change } = limited
  const found = async () => Object.entries(await foundInDatabase({ DATABASE_URL: url, REDIS_URL: '' }))
  await change(`revoke connect on database ${name} from public`)
  expect(await found()).toEqual([
    [expect.stringContaining('permission denied for database'), `grant connect on database ${name} to ${role}`],
  ])
  await change(`grant connect on database ${name} to ${role}`)
  await change(`grant all on all tables in schema public to ${role}`)
  const problems = await found()
  expect(problems).toContainEqual([
    `fail: The user ${role} may not write to all tables of the queue`,
    expect.stringContaining(`grant usage on schema bullmq to ${role}`),
  ])
  expect(problems).toContainEqual([
    `warn: The user ${role} may not create tables and schemas, which migrations need`,
    expect.stringContaining(`grant create on database ${name} to ${role}`),
  ])
  await change(`alter database ${name} set default_transaction_read_only = on`)
  expect(await found()).toContainEqual([
    'fail: The database is read-only',
    expect.stringContaining('set DATABASE_URL to the primary'),
  ])
  await change(`set transaction_read_only = off; alter database ${name} reset default_transaction_read_only`)
  const elsewhere = `${url}?options=-c%20search_path%3Delsewhere`
  expect(await foundInDatabase({ DATABASE_URL: elsewhere, REDIS_URL: '' })).toEqual({
    'fail: No schema of search_path (elsewhere) can be used': expect.stringContaining('create the schema'),
  })
})

test('the release step names the rights and the schema that its user lacks, and a database that is read-only', async () => {
  await using limited = await openLimited(true)
  const { name, role, url, change } = limited
  const release = async (address = url) => {
    const env = { ...platform.environment, DATABASE_URL: address }
    const ended = promisify(execFile)(process.execPath, ['migrations/migrate.js'], { env })
    return ended.then(
      ({ stderr }) => [0, stderr],
      ({ code, stderr }: { code: number; stderr: string }) => [code, stderr],
    )
  }
  const refusal = (words: string) =>
    `The user ${role} may not migrate the database ${name} (${words}): grant create on database ${name} to ${role}; ` +
    `grant usage, create on schema public to ${role}; or use the owner of its tables\n`
  expect(await release(`${url}?options=-c%20search_path%3Delsewhere`)).toEqual([
    1,
    `The user ${role} finds no schema of search_path in the database ${name} (no schema has been selected to create in): ` +
      'create the schema (create schema public) or grant its usage, or correct search_path in the options of DATABASE_URL, of the ' +
      'user or of the database\n',
  ])
  expect(await release()).toEqual([1, refusal('permission denied for schema public')])
  await change(`grant create on schema public to ${role}`)
  expect(await release()).toEqual([1, refusal(`permission denied for database ${name}`)])
  await change(`grant create on database ${name} to ${role}`)
  expect(await release()).toEqual([0, ''])
  await change(`alter table bots owner to current_user`)
  await change(`delete from knex_migrations where name = (select max(name) from knex_migrations)`)
  await change(`alter database ${name} set default_transaction_read_only = on`)
  expect(await release()).toEqual([
    1,
    `The database ${name} is read-only (cannot execute DELETE in a read-only transaction): set DATABASE_URL to the primary server, ` +
      'or make it accept writes: set default_transaction_read_only = off\n',
  ])
}, 120_000)

test('knows the platform of `isobot start` by its data folder, and what answers in its place', async () => {
  const folder = join(commandLine.folder, 'data')
  await mkdir(folder)
  await writeFile(join(folder, 'secret'), 'f0e1d2c3b4a5968778695a4b3c2d1e0f'.repeat(2))
  await writeFile(join(folder, 'credentials.json'), JSON.stringify({ baseUrl: platform.url }))
  const { findings, failures } = await examine({ environment: {}, dataDirectory: folder })
  expect(failures).toBe(0)
  expect(findings.map(({ message }) => message)).toEqual(
    expect.arrayContaining([
      `DATABASE_URL is not set: \`isobot start\` runs an embedded database in ${folder}`,
      expect.stringContaining('are free on the disk of the data folder'),
      `The api answers at ${platform.url} and is ready`,
    ]),
  )
})

test('reports damaged credentials of `isobot start`, and goes on', async () => {
  const folder = join(commandLine.folder, 'damaged')
  await mkdir(folder)
  await writeFile(join(folder, 'secret'), 'f0e1d2c3b4a5968778695a4b3c2d1e0f'.repeat(2))
  for (const content of ['', '{"baseUrl":', 'null']) {
    await writeFile(join(folder, 'credentials.json'), content)
    const { findings } = await examine({ environment: {}, dataDirectory: folder })
    expect(Object.keys(problemsIn(findings))).toContain(`fail: ${join(folder, 'credentials.json')} is not valid JSON`)
    expect(new Set(findings.map(({ area }) => area))).toContain('Sandbox')
  }
})

test('says that no worker is alive, and that one is alive but takes nothing', async () => {
  const config = configWith({})
  expect(Object.keys(problemsIn(await checkWorkers(config)))).toEqual([
    expect.stringContaining('warn: No worker is alive'),
  ])
  const { db } = platform.context
  await db('workers').insert({ id: 'idle', host: 'here', slots: 10, in_use: 0 })
  expect(problemsIn(await checkWorkers(config))).toEqual({})
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  await chatUser.send(await chatUser.createConversation(), 'Is anybody there?')
  await db('events')
    .where({ bot_id: bot.id })
    .update({ available_at: db.raw(`now() - interval '11 seconds'`) })
  expect(Object.keys(problemsIn(await checkWorkers(config)))).toEqual([
    expect.stringContaining('warn: A worker is alive but takes no events'),
  ])
  expect((await platform.ask('GET', '/v1/admin/queue')).body.queue.workerState).toBe('stalled')
  await db('workers').delete()
})

test('the chat of the command line reports that no worker will answer', async () => {
  await using other = await openPlatform({ worker: false })
  await using isobot = await openCommandLine(other)
  const { id } = await other.createBot()
  const { code, stdout, stderr } = await isobot.run(['chat', id, 'Hello', '--timeout', '1s'])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/No worker is alive[^]*No worker is alive: .*`isobot start` on this machine/)
})
