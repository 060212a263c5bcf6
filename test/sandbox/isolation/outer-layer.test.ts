import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findAddon } from '#sandbox/isolation/addon.ts'
import { dataKilobytes, explore, isolationHere } from '../isolate/explorer.ts'
import { isRunning } from '../running.ts'

const onLinux = process.platform === 'linux'

describe('a sandbox process', () => {
  test('has no environment and no folder', async () => {
    const { found } = await explore(`
      attempt('environment', () => Object.keys(process.env))
      attempt('folder', () => process.cwd())`)
    // A shell may add its own variables; none of ours comes through.
    expect(found['environment']).toEqual(expect.not.arrayContaining(['PATH', 'HOME', 'DATABASE_URL']))
    expect(
      (found['environment'] as string[]).filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)),
    ).toEqual([])
    expect(found['folder']).toBe('/')
  })

  test('can read and write no file, start no process and no thread, and open no inspector', async () => {
    const { found } = await explore(`
      const fs = require('node:fs')
      const { spawnSync, fork } = require('node:child_process')
      attempt('read', () => fs.readFileSync('/etc/passwd', 'utf8'))
      attempt('itself', () => fs.readFileSync(process.execPath).length)
      attempt('list', () => fs.readdirSync('/'))
      attempt('kernel', () => fs.readFileSync('/proc/self/environ', 'utf8'))
      attempt('write', () => fs.writeFileSync('/tmp/sandbox-probe', 'x'))
      attempt('link', () => fs.symlinkSync('/etc/passwd', '/tmp/sandbox-probe'))
      attempt('later', () => fs.promises.open('/etc/passwd'))
      attempt('stream', () => new Promise((_, reject) => fs.createReadStream('/etc/passwd').on('error', reject)))
      attempt('process', () => spawnSync('/bin/true').status)
      attempt('fork', () => fork('/tmp/program.js').pid)
      attempt('thread', () => new (require('node:worker_threads').Worker)('1', { eval: true }).threadId)
      attempt('inspector', () => require('node:inspector').open())`)
    expect(new Set(Object.values(found))).toEqual(new Set(['ERR_ACCESS_DENIED']))
  })

  test('finds no module to load, and none of those that write files or open them by themselves', async () => {
    const { found } = await explore(`
      attempt('require', () => require('/etc/hostname'))
      attempt('import', () => import('/etc/hostname'))
      attempt('sqlite', () => require('node:sqlite'))
      attempt('snapshot', () => require('node:v8').writeHeapSnapshot('/tmp/sandbox-probe'))
      attempt('report', () => process.report.writeReport('/tmp/sandbox-probe'))
      attempt('hooks', () => require('node:module').register('data:text/javascript,'))
      attempt('binding', () => process.binding('fs'))
      attempt('execve', () => process.execve('/bin/true', ['/bin/true']))
      attempt('wasi', () => new (require('node:wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } }))`)
    const { require, import: imported, sqlite, ...others } = found
    const unavailable = expect.stringMatching(/^ERR_ACCESS_DENIED$|MODULE_NOT_FOUND$/)
    expect([require, imported]).toEqual([unavailable, unavailable])
    expect(sqlite).toBe('ERR_UNKNOWN_BUILTIN_MODULE')
    expect(new Set(Object.values(others))).toEqual(new Set(['ERR_ACCESS_DENIED']))
  })

  test('has neither a JIT nor WebAssembly, and still loads the addon', async () => {
    const { found } = await explore(`
      attempt('webAssembly', () => typeof WebAssembly)
      attempt('addon', () => { const module = { exports: {} }; process.dlopen(module, ${JSON.stringify(findAddon())}); return typeof module.exports.ivm.Isolate })`)
    expect(found).toEqual({ webAssembly: 'undefined', addon: 'function' })
  })

  test.runIf(onLinux)('has limits on its data, files and core dumps, which it can not raise', async () => {
    const { pid } = await explore('')
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8')
    const limit = (name: string) =>
      new RegExp(`^Max ${name}\\s+(\\S+)\\s+(\\S+)`, 'm').exec(limits)?.slice(1).map(Number)
    expect(limit('core file size')).toEqual([0, 0])
    expect(limit('file size')).toEqual([0, 0])
    expect(limit('open files')).toEqual([64, 64])
    expect(limit('data size')).toEqual([dataKilobytes * 1024, dataKilobytes * 1024])
  })

  test.runIf(onLinux)('can not take more memory than its cap, in whatever way it asks', async () => {
    const { found } = await explore(`
      const kept = []
      const take = (allocate) => { try { for (;;) kept.push(allocate()) } catch {} return process.memoryUsage.rss() }
      attempt('buffers', () => take(() => Buffer.alloc(4e6, 1)))
      attempt('resizable', () => take(() => {
        const buffer = new ArrayBuffer(1, { maxByteLength: 4e6 }); buffer.resize(4e6); new Uint8Array(buffer).fill(1)
        return buffer
      }))
      attempt('shared', () => take(() => new Uint8Array(new SharedArrayBuffer(4e6)).fill(1)))`)
    for (const bytes of Object.values(found)) expect(bytes).toBeLessThan(dataKilobytes * 1024)
    // It did get what it may have.
    expect(Math.max(...(Object.values(found) as number[]))).toBeGreaterThan((dataKilobytes * 1024) / 2)
  })

  test.runIf(onLinux)('gives way to others, and can not change that', async () => {
    const { found } = await explore(`
      const os = require('node:os')
      attempt('nice', () => os.getPriority())
      attempt('raised', () => { os.setPriority(0, 0); return os.getPriority() })`)
    expect(found).toEqual({ nice: 10, raised: 'ERR_SYSTEM_ERROR' })
  })

  test.runIf(onLinux)('is in a session of its own, so that its group is only itself', async () => {
    const { pid } = await explore('')
    const [group, session] = [2, 3]
    expect(fieldOf(pid, group)).not.toBe(fieldOf(process.pid, group))
    expect(fieldOf(pid, session)).not.toBe(fieldOf(process.pid, session))
  })
})

describe.runIf(onLinux)('a worker that was started with open files', () => {
  test('does not pass them on', async () => {
    const file = openSync(fileURLToPath(import.meta.url), 'r')
    onTestFinished(() => closeSync(file))
    const holes = Array.from({ length: 241 }, (_, index) => (index === 0 || index === 240 ? file : 'ignore'))
    const { inside } = await startWorkerWith(holes)
    const folder = `/proc/${inside}/fd`
    const targets = readdirSync(folder).map((descriptor) => readlinkSync(`${folder}/${descriptor}`))
    expect(targets.length).toBeGreaterThan(4)
    expect(targets.filter((target) => !/^(socket:|pipe:|anon_inode:|(\/sys)?\/dev\/null$)/.test(target))).toEqual([])
  })
})

test('when the worker is killed, its sandbox process ends, even if its own thread is stuck', async () => {
  const { worker, inside, all } = await startWorkerWith([])
  expect(isRunning(inside)).toBe(true)
  worker.kill('SIGKILL')
  await expect.poll(() => all.filter(isRunning), { timeout: 20_000 }).toEqual([])
})

/** A program that starts a sandbox process whose own thread loops, and says which it is. */
async function startWorkerWith(furtherDescriptors: (number | 'ignore')[]) {
  await isolationHere()
  const program = fileURLToPath(new URL('./abandoned-process.ts', import.meta.url))
  const worker = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit', ...furtherDescriptors] })
  onTestFinished(() => void worker.kill('SIGKILL'))
  const [line] = (await once(worker.stdout!.setEncoding('utf8'), 'data')) as [string]
  const all = JSON.parse(line) as number[]
  return { worker, all, inside: all.at(-1)! }
}

/** A number that the kernel tells of a process, by its place after the state. */
function fieldOf(pid: number, index: number): number {
  return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[index])
}
