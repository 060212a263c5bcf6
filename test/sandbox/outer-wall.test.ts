import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findAddon } from '#sandbox/addon.ts'
import { sandboxCommand } from '#sandbox/command.ts'
import { openTestSandbox } from './fixture.ts'

type UserLimits = Record<string, { soft: number | string; hard: number | string }>

/** Starts a process with the command line of a sandbox process, but with a program that tries things. */
async function probe(program: string): Promise<Record<string, unknown>> {
  const { file, args, options } = sandboxCommand()
  const child = spawn(file, args, options)
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdin?.end(`
    const found = {}
    const attempt = (name, action) => { try { found[name] = action() } catch (error) { found[name] = error.code ?? error.name } }
    ${program}
    new (require('node:net').Socket)({ fd: 3 }).end(JSON.stringify(found))`)
  const [answer] = await Promise.all([text(child.stdio[3] as Readable), once(child, 'close')])
  return JSON.parse(answer) as Record<string, unknown>
}

describe('a sandbox process', () => {
  test('has no environment and no folder', async () => {
    const found = await probe(`
      attempt('environment', () => Object.keys(process.env))
      attempt('folder', () => process.cwd())`)
    // A shell may add its own variables; none of ours comes through.
    expect(found['environment']).toEqual(expect.not.arrayContaining(['PATH', 'HOME', 'DATABASE_URL']))
    expect(
      (found['environment'] as string[]).filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)),
    ).toEqual([])
    expect(found['folder']).toBe('/')
  })

  test('can read and write no file, start no process and no thread', async () => {
    const found = await probe(`
      const fs = require('node:fs')
      attempt('read', () => fs.readFileSync('/etc/passwd', 'utf8'))
      attempt('itself', () => fs.readFileSync(process.execPath).length)
      attempt('list', () => fs.readdirSync('/'))
      attempt('kernel', () => fs.readFileSync('/proc/self/environ', 'utf8'))
      attempt('write', () => fs.writeFileSync('/tmp/sandbox-probe', 'x'))
      attempt('link', () => fs.symlinkSync('/etc/passwd', '/tmp/sandbox-probe'))
      attempt('process', () => require('node:child_process').spawnSync('/bin/true').status)
      attempt('thread', () => new (require('node:worker_threads').Worker)('1', { eval: true }).threadId)
      attempt('inspector', () => require('node:inspector').open())`)
    expect(new Set(Object.values(found))).toEqual(new Set(['ERR_ACCESS_DENIED']))
  })

  test('has neither a JIT nor WebAssembly, and still loads the addon', async () => {
    const found = await probe(`
      attempt('webAssembly', () => typeof WebAssembly)
      attempt('addon', () => { const module = { exports: {} }; process.dlopen(module, ${JSON.stringify(findAddon())}); return typeof module.exports.ivm.Isolate })`)
    expect(found).toEqual({ webAssembly: 'undefined', addon: 'function' })
  })

  test('has limits on its data, its open files and its core dumps', async () => {
    const found = await probe(`attempt('limits', () => process.report.getReport().userLimits)`)
    const { core_file_size_blocks: core, open_files: files, data_seg_size_bytes: data } = found['limits'] as UserLimits
    expect(core).toEqual({ soft: 0, hard: 0 })
    expect(files).toEqual({ soft: 64, hard: 64 })
    expect(data).toEqual({ soft: 480_000 * 1024, hard: 480_000 * 1024 })
  })

  test.runIf(process.platform === 'linux')('holds no open file', async () => {
    const sandbox = await openTestSandbox()
    onTestFinished(() => sandbox.close())
    const folder = `/proc/${sandbox.pid()}/fd`
    const targets = readdirSync(folder).map((descriptor) => readlinkSync(`${folder}/${descriptor}`))
    const open = targets.filter((target) => !/^(socket:|pipe:|anon_inode:|\/dev\/null$)/.test(target))
    expect(open).toEqual([])
  })
})
