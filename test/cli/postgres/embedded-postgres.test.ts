import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../cli/postgres/embedded-postgres.ts'
import { postgresFiles } from '../../../cli/postgres/files.ts'
import { findProcess } from '#shared/process/find-process.ts'

const patience = { timeout: 30_000, interval: 50 }

describe('an embedded PostgreSQL', { timeout: 120_000 }, () => {
  let directory: string
  const servers: EmbeddedPostgres[] = []
  const owners: ChildProcess[] = []
  const supervisors: number[] = []

  beforeEach(async () => {
    directory = await mkdtemp(join(await realpath(tmpdir()), 'isobot-embedded-'))
  })

  afterEach(async () => {
    for (const owner of owners.splice(0)) owner.kill('SIGKILL')
    for (const server of servers.splice(0)) await server.stop()
    for (const supervisor of supervisors.splice(0))
      await vi.waitUntil(async () => !(await findProcess(supervisor)), patience)
    await rm(directory, { recursive: true, force: true })
  }, 60_000)

  async function start(): Promise<EmbeddedPostgres> {
    const server = await startEmbeddedPostgres({ directory, log: () => {} })
    servers.push(server)
    return server
  }

  /** Another process that starts the server, as `npm start` would. */
  async function startInAnotherProcess(...parameters: string[]) {
    const script = join(import.meta.dirname, 'postgres-owner.ts')
    const owner = spawn(process.execPath, [script, directory, ...parameters], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    owners.push(owner)
    const output = createInterface(owner.stdout)
    const [line] = (await once(output, 'line')) as [string]
    const { url, pid } = JSON.parse(line) as { url: string; pid: number }
    const { parent: supervisor } = (await findProcess(pid))!
    supervisors.push(supervisor)
    return { owner, output, url, pid, supervisor }
  }

  test('keeps its data and its password from one start to the next', async () => {
    const first = await start()
    await query(first.url, 'create table notes (text text)')
    await query(first.url, `insert into notes values ('still here')`)
    await first.stop()
    expect(await findProcess(first.pid)).toBeUndefined()

    const second = await start()
    expect(await query(second.url, 'select text from notes')).toEqual([{ text: 'still here' }])
    expect(new URL(second.url).password).toBe(new URL(first.url).password)
  })

  test('compares words of every alphabet by their parts, and orders texts by their code points', async () => {
    const { url } = await start()
    await query(url, 'create extension pg_trgm')
    const [found] = await query(
      url,
      `select word_similarity('превет', 'привет мир') as similarity, array(
         select text from unnest(array['ä', 'b', 'B', 'Ä']) as given (text) order by text) as texts`,
    )
    expect(found).toEqual({ similarity: expect.closeTo(0.4), texts: ['B', 'b', 'Ä', 'ä'] })
  })

  test('asks for its password, which only its owner may read', async () => {
    const { url } = await start()
    const withoutPassword = new URL(url)
    withoutPassword.password = 'guessed'
    await expect(query(withoutPassword.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
    expect((await stat(postgresFiles(directory).password)).mode & 0o777).toBe(0o600)
  })

  test('listens on the loopback address and nowhere else', async () => {
    const { url } = await start()
    expect(
      await query(
        url,
        `select current_setting('listen_addresses') as addresses, current_setting('unix_socket_directories') as sockets`,
      ),
    ).toEqual([{ addresses: '127.0.0.1', sockets: '' }])
  })

  test('takes settings', async () => {
    const server = await startEmbeddedPostgres({ directory, log: () => {}, settings: { work_mem: '9MB' } })
    servers.push(server)
    expect(await query(server.url, 'show work_mem')).toEqual([{ work_mem: '9MB' }])
  })

  test('refuses a setting that PostgreSQL refuses, in the words of PostgreSQL', async () => {
    await expect(
      startEmbeddedPostgres({ directory, log: () => {}, settings: { max_connections: 'many' } }),
    ).rejects.toThrow(/max_connections/)
  })

  test('refuses a directory that holds other files', async () => {
    await writeFile(join(directory, 'thesis.txt'), '')
    await expect(start()).rejects.toThrow(/must contain only PostgreSQL's data, but also has "thesis.txt"/)
  })

  test('refuses a second start on its directory and names the process that has it', async () => {
    const { pid } = await start()
    await expect(start()).rejects.toThrow(
      new RegExp(`${directory} is in use: PostgreSQL \\(process ${pid}\\) runs there for process ${process.pid} `),
    )
  })

  test('is gone when the process that started it is killed', async () => {
    const { owner, pid, supervisor } = await startInAnotherProcess()
    owner.kill('SIGKILL')
    await expect.poll(() => findProcess(pid), patience).toBeUndefined()
    await expect.poll(() => findProcess(supervisor), patience).toBeUndefined()
  })

  test('takes a temporary directory with it when the process that started it is killed', async () => {
    const { owner } = await startInAnotherProcess('temporary')
    owner.kill('SIGKILL')
    await expect.poll(() => existsSync(directory), patience).toBe(false)
  })

  test('can be started again at once after the process that started it was killed', async () => {
    const { owner, url } = await startInAnotherProcess()
    await query(url, 'create table notes (text text)')
    owner.kill('SIGKILL')
    await once(owner, 'exit')
    expect(await query((await start()).url, 'select from notes')).toEqual([])
  })

  test('that was left running without its supervisor is stopped by the next start', async () => {
    const { owner, pid, supervisor, url } = await startInAnotherProcess()
    await query(url, 'create table notes (text text)')
    process.kill(supervisor, 'SIGKILL')
    owner.kill('SIGKILL')
    await once(owner, 'exit')
    await vi.waitUntil(async () => !(await findProcess(supervisor)), patience)
    expect(await query((await start()).url, 'select from notes')).toEqual([])
    expect(await findProcess(pid)).toBeUndefined()
  })

  test('that crashed does not prevent the next start, even when another process has its process id', async () => {
    const first = await start()
    process.kill(first.pid, 'SIGKILL')
    await first.exited
    const { uid } = await stat(postgresFiles(directory).lock)
    const other = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { uid })
    owners.push(other)
    await replaceFirstLine(postgresFiles(directory).lock, String(other.pid))
    expect(await query((await start()).url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(other.exitCode).toBeNull()
  })

  test('does not notice a Ctrl-C at the terminal of the process that started it', async () => {
    const { owner, output, url } = await startInAnotherProcess()
    const interrupted = once(output, 'line')
    process.kill(-owner.pid!, 'SIGINT')
    expect(await interrupted).toEqual(['interrupted'])
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
  })
})

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

async function replaceFirstLine(path: string, line: string): Promise<void> {
  const [, ...rest] = (await readFile(path, 'utf8')).split('\n')
  await writeFile(path, [line, ...rest].join('\n'))
}
