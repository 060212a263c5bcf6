import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { findAddon } from './addon.ts'
import { sandboxCommand, type CommandOptions } from './command.ts'
import type { ProbeSockets } from './probe-sockets.ts'
import { residentKilobytes } from './memory.ts'
import type { IsolationLayer } from './names.ts'
import { endProcesses, innermostOf } from './processes.ts'

/** The result of a composition: the layers that hold, or the reason why no sandbox process starts in it. */
export type Probe = { holds: Set<IsolationLayer> } | { problem: string }

/**
 * Longer than a probe takes on the busiest machine: a shorter limit could select a weaker composition than the machine
 * allows.
 */
const probeMilliseconds = 30_000
const complaintCharacters = 300
/** Node alone takes more than this. */
const minKilobytes = 20_000

/** The findings of a program that ran in place of a sandbox process. */
interface Findings {
  refused: boolean
  reached: { tcp: boolean; abstract: boolean; byPath: boolean }
}

/**
 * Starts a sandbox process whose program tries the layers, and inspects the process from outside as well. The command
 * line alone proves nothing.
 */
export async function probe(options: CommandOptions, probeSockets: ProbeSockets): Promise<Probe> {
  const { file, args, options: spawnOptions } = sandboxCommand(options)
  const child = spawn(file, args, spawnOptions)
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let complaint = ''
  const end = () => child.pid !== undefined && endProcesses(child.pid)
  const overdue = setTimeout(() => {
    complaint += `it did not start within ${probeMilliseconds / 1000} s`
    end()
  }, probeMilliseconds)
  child.once('error', (error) => (complaint += error.message))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint += text))
  child.stdin?.on('error', () => {})
  child.stdin?.end(programWith(probeSockets))
  try {
    const findings = await firstLine(child.stdio[3] as Readable)
    if (findings !== undefined) return { holds: layersOf(JSON.parse(findings) as Findings, child.pid!, options) }
  } finally {
    end()
    clearTimeout(overdue)
    await closed
  }
  return { problem: complaint.trim().slice(0, complaintCharacters) || 'the process did not start' }
}

async function firstLine(stream: Readable): Promise<string | undefined> {
  let text = ''
  try {
    // The process ends when its channel does, and has to be inspected first.
    for await (const chunk of stream.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      text += chunk as string
      if (text.includes('\n')) return text
    }
  } catch {
    // The process's standard error gives a better reason.
  }
  return undefined
}

function layersOf(findings: Findings, pid: number, { profile, dataKilobytes }: CommandOptions): Set<IsolationLayer> {
  const holds = new Set<IsolationLayer>()
  const { refused, reached } = findings
  if (refused) holds.add('permissions')
  if (!reached.tcp && !reached.abstract) holds.add('network')
  if (!reached.byPath) holds.add('files')

  const inside = innermostOf(pid)
  const status = kernelView(inside, 'status')
  if (fieldOf(status, 'NSpid').length > 1) holds.add('processes')
  const capabilities = ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].flatMap((name) => fieldOf(status, name))
  const hasNone = capabilities.length === 4 && capabilities.every((set) => /^0+$/.test(set))
  if (hasNone && fieldOf(status, 'NoNewPrivs')[0] === '1') holds.add('privileges')
  const users = fieldOf(status, 'Uid')
  if (users.length === 4 && !users.includes(String(process.geteuid?.()))) holds.add('user')

  const cap = `${dataKilobytes * 1024}`
  const isCapped = new RegExp(`^Max data size\\s+${cap}\\s+${cap}\\s`, 'm').test(kernelView(inside, 'limits'))
  const isWatchable = (residentKilobytes(inside) ?? 0) > minKilobytes
  if (profile === 'hardened' ? isCapped : isWatchable) holds.add('memory')
  return holds
}

/** Reads a file of a process in `/proc`; empty when there is none. */
function kernelView(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

function fieldOf(status: string, name: string): string[] {
  const value = new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1]
  return value === undefined ? [] : value.trim().split(/\s+/)
}

/**
 * The program of a probe: it loads the addon as sandbox processes do, tries forbidden operations, and stays for
 * inspection.
 */
function programWith({ tcp, abstract, byPath }: ProbeSockets): string {
  return `
    const { connect, Socket } = require('node:net')
    const denied = (action) => { try { action(); return false } catch (error) { return error.code === 'ERR_ACCESS_DENIED' } }
    const reaches = (socket) => new Promise((resolve) => {
      connect(socket).on('connect', () => resolve(true)).on('error', () => resolve(false))
    })
    process.dlopen({ exports: {} }, ${JSON.stringify(findAddon())})
    const refused = [
      () => require('node:fs').readdirSync('/'),
      () => require('node:child_process').spawnSync('/bin/true'),
      () => new (require('node:worker_threads').Worker)('', { eval: true }),
    ].every(denied)
    const probeSockets = ${JSON.stringify({ tcp, abstract, byPath })}
    const tried = Object.entries(probeSockets).map(async ([name, socket]) => [name, await reaches(socket)])
    Promise.all(tried).then((found) => {
      const channel = new Socket({ fd: 3 })
      channel.write(JSON.stringify({ refused, reached: Object.fromEntries(found) }) + '\\n')
      channel.resume()
    })`
}
