import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startChild, type Child } from '../../../cli/start/children.ts'
import { findProcess } from '#shared/process/find-process.ts'

const patience = { timeout: 20_000, interval: 20 }
const parentModule = JSON.stringify(
  pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'shared', 'process', 'parent-process.ts')).href,
)
const untilKilled = 'setInterval(() => {}, 1000)'

describe('a child', { timeout: 60_000 }, () => {
  const children: Child[] = []
  let directory: string

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'isobot-children-'))
  })

  afterEach(async () => {
    for (const child of children.splice(0)) await child.stop()
    await rm(directory, { recursive: true, force: true })
  })

  /** Starts a child that runs this source; the file `ready` appears in the directory when `ready()` is called. */
  async function start(source: string, graceMilliseconds?: number): Promise<Child> {
    const prelude = `const ready = () => process.getBuiltinModule('node:fs').writeFileSync('ready', '');`
    const child = await startChild(
      'the child',
      [process.execPath, '--input-type=module-typescript', '--eval', prelude + source],
      { directory, ...(graceMilliseconds === undefined ? {} : { graceMilliseconds }) },
    )
    children.push(child)
    return child
  }

  async function untilReady(): Promise<void> {
    await expect.poll(() => existsSync(join(directory, 'ready')), patience).toBe(true)
  }

  test('is asked to stop with SIGTERM, and may take its time', async () => {
    const child = await start(`process.on('SIGTERM', () => setTimeout(process.exit, 50, 7)); ready(); ${untilKilled}`)
    await untilReady()
    expect(await child.stop()).toEqual({ code: 7, signal: null })
    expect(await findProcess(child.pid)).toBeUndefined()
  })

  test('that does not stop is killed when its grace is over', async () => {
    const child = await start(`process.on('SIGTERM', () => {}); ready(); ${untilKilled}`, 100)
    await untilReady()
    expect(await child.stop()).toEqual({ code: null, signal: 'SIGKILL' })
  })

  test('can be stopped twice, and after it ended by itself', async () => {
    const child = await start('process.exitCode = 3')
    expect(await child.exited).toEqual({ code: 3, signal: null })
    expect(await Promise.all([child.stop(), child.stop()])).toEqual([
      { code: 3, signal: null },
      { code: 3, signal: null },
    ])
  })

  test('that cannot be started is an error that names it and its command', async () => {
    await expect(startChild('the worker', ['/no/such/program', '--flag'])).rejects.toThrow(
      /^the worker could not be started with "\/no\/such\/program --flag": .*ENOENT/,
    )
  })

  test('learns by its environment and its standard input that its parent is gone, even if that was killed', async () => {
    const owner = spawnOwner(`
      const { untilParentGone } = await import(${parentModule})
      console.log(JSON.stringify({ pid: process.pid, parent: process.env.ISOBOT_PARENT }))
      const forever = setInterval(() => {}, 1000)
      await untilParentGone()
      clearInterval(forever)
    `)
    const [line] = (await once(createInterface(owner.stdout), 'line')) as [string]
    const { pid, parent } = JSON.parse(line) as { pid: number; parent: string }
    expect(parent).toBe('stdin')
    owner.kill('SIGKILL')
    await expect.poll(() => findProcess(pid), patience).toBeUndefined()
  })

  test('that waits for its parent to go may end before that', async () => {
    const child = await start(`
      const { untilParentGone } = await import(${parentModule})
      void untilParentGone()
    `)
    expect(await child.exited).toEqual({ code: 0, signal: null })
  })

  test('prints what it prints, and nothing is added', async () => {
    const owner = spawnOwner(`console.log('to standard output'); console.error('to standard error')`)
    expect(await Promise.all([text(owner.stdout), text(owner.stderr)])).toEqual([
      'to standard output\n',
      'to standard error\n',
    ])
  })
})

/** Another process, with a child of its own that runs this source. */
function spawnOwner(source: string) {
  return spawn(process.execPath, [join(import.meta.dirname, 'child-owner.ts'), source], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
