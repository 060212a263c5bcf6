import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { sandboxCommand, type Command } from '#sandbox/isolation/command.ts'
import type { Profile } from '#sandbox/protocol/contract.ts'
import type { Layers } from '#sandbox/isolation/layers.ts'
import { filesOfRoot } from '#sandbox/isolation/chroot.ts'
import { endProcesses, innermostOf } from '#sandbox/isolation/processes.ts'
import { detectIsolation, type Isolation } from '#sandbox/isolation/detect-isolation.ts'
import { findTools } from '#sandbox/isolation/tools.ts'

export const dataKilobytes = 480_000

/** The isolation of sandbox processes on this machine. */
export function isolationHere(profile: Profile = 'hardened'): Promise<Isolation> {
  return detectIsolation({ profile, require: [], log: () => {} })
}

/** The command of a process with these layers around it, whether or not there are stronger ones. */
export function commandWith(layers: Layers): Command {
  const tools = findTools()
  const files = layers.chroot ? filesOfRoot([process.execPath, tools.setpriv!]) : []
  return sandboxCommand({ layers, tools, files, profile: 'hardened', dataKilobytes })
}

/** A command without Node's permission model, as for code that has bypassed it: only the kernel's layers remain. */
export function withoutPermissions(command: Command): Command {
  const theirs = ['--permission', '--allow-addons', '--disable-warning=PERM0001']
  return { ...command, args: command.args.filter((argument) => !theirs.includes(argument)) }
}

export interface Explorer {
  /** The result of each attempt: its value, or the code of its error. */
  found: Record<string, unknown>
  /** Its number as this process sees it. */
  pid: number
  child: ChildProcess
}

/**
 * Starts a process with the command line of a sandbox process, and a program that tries things: `attempt(name, action)`
 * notes what comes of an action, sooner or later. The process stays until the test is over.
 */
export async function explore(program: string, command?: Command): Promise<Explorer> {
  const { file, args, options } = command ?? (await isolationHere()).command(dataKilobytes)
  const child = spawn(file, args, options)
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    endProcesses(child.pid!)
    await closed
  })
  let complaint = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (complaint += text))
  child.stdin!.end(`
    const found = {}
    const attempts = []
    const attempt = (name, action) => attempts.push((async () => {
      try { found[name] = await action() } catch (error) { found[name] = error.code ?? error.name }
    })())
    ${program}
    Promise.all(attempts).then(() => {
      const channel = new (require('node:net').Socket)({ fd: 3 })
      channel.write(JSON.stringify(found) + '\\n')
      channel.resume()
    })`)
  let text = ''
  const channel = child.stdio[3] as Readable
  for await (const chunk of channel.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk as string
    if (text.includes('\n')) break
  }
  if (text === '') throw new Error(`The explorer found nothing: ${complaint}`)
  return { found: JSON.parse(text) as Record<string, unknown>, pid: innermostOf(child.pid!), child }
}
