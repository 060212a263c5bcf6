import { sandboxCommand, type Command, type CommandOptions, type OtherProgram } from '../host/command.ts'
import type { Profile, SandboxLog } from '../protocol/contract.ts'
import { openProbeSockets } from './probe-sockets.ts'
import { bareLayers, compositionsFor, type Layers } from './layers.ts'
import { layerDescriptions as descriptions, isolationLayers, type IsolationLayer } from './names.ts'
import { filesOfRoot } from './chroot.ts'
import { probe } from './probe.ts'
import { findTools, toolNames, type Tools } from './tools.ts'

/** Enough for a process that holds no isolate. */
const probeDataKilobytes = 200_000

export interface IsolationOptions {
  profile: Profile
  /** Isolation without which nothing is started. */
  require: readonly IsolationLayer[]
  log: SandboxLog
  /** The programs that make the layers; looked up by default. */
  tools?: Tools
}

/** The isolation of every sandbox process of this worker. */
export interface Isolation {
  readonly profile: Profile
  readonly holds: ReadonlySet<IsolationLayer>
  /**
   * The command line of one process. No two have the same user, where they have users of their own.
   *
   * @param dataKilobytes the most data that it may have, which a process with a JIT does not keep to by itself
   * @param program what is to run in it, unless it is to hold isolates
   */
  command(dataKilobytes: number, program?: OtherProgram): Command
}

/** The machine gives less than `SANDBOX_REQUIRE` asks for. Its message gives the reason and the remedy of each missing layer. */
export class MissingIsolationError extends Error {
  override name = 'MissingIsolationError'
}

/** What this machine allows does not change while this process runs. */
const found = new Map<string, Promise<Strongest>>()

/**
 * Finds the strongest composition of layers that this machine allows, by trying, and logs which layers hold.
 *
 * @throws MissingIsolationError
 */
export async function detectIsolation({
  profile,
  require,
  log,
  tools = findTools(),
}: IsolationOptions): Promise<Isolation> {
  const key = JSON.stringify([profile, tools])
  if (!found.has(key)) found.set(key, strongest(profile, tools))
  const { options, holds, problems } = await found.get(key)!
  const held = isolationLayers.filter((name) => holds.has(name))
  const missing = isolationLayers.filter((name) => !holds.has(name))
  const reasons = Object.fromEntries(missing.map((name) => [name, reasonFor(name, problems)]))
  const lacking = missing.filter((name) => require.includes(name))
  if (lacking.length > 0) {
    const list = lacking.map((name) => `  ${name}: ${reasons[name]}`)
    throw new MissingIsolationError(
      ['SANDBOX_REQUIRE lists isolation layers that are missing here:', ...list].join('\n'),
    )
  }
  log(missing.length === 0 ? 'info' : 'warn', messageOf(held, missing), {
    profile,
    holds: held,
    ...(missing.length > 0 && { missing: reasons }),
  })
  return {
    profile,
    holds,
    command: (dataKilobytes, program) => sandboxCommand({ ...options, dataKilobytes, ...(program && { program }) }),
  }
}

function messageOf(held: IsolationLayer[], missing: IsolationLayer[]): string {
  const message = `Isolation layers of sandbox processes: ${held.join(', ')}`
  return missing.length === 0 ? message : `${message}; missing: ${missing.join(', ')}`
}

function reasonFor(name: IsolationLayer, problems: string[]): string {
  const { meaning, remedy } = descriptions[name]
  return `${meaning}: not here${problems.length === 0 ? '' : ` (${problems.join('; ')})`}; ${remedy}`
}

interface Strongest {
  options: Omit<CommandOptions, 'dataKilobytes'>
  holds: Set<IsolationLayer>
  /** Why there is nothing stronger. */
  problems: string[]
}

async function strongest(profile: Profile, tools: Tools): Promise<Strongest> {
  const unable = unableToTry(tools)
  const compositions = unable === undefined ? compositionsFor(process.geteuid?.() === 0) : [bareLayers]
  const problems = new Set<string>(unable === undefined ? [] : [unable])
  await using probeSockets = await openProbeSockets()
  for (const layers of compositions) {
    const options = { layers, tools, files: filesFor(layers, tools), profile }
    const result = await probe({ ...options, dataKilobytes: probeDataKilobytes }, probeSockets)
    if ('holds' in result) return { options, holds: result.holds, problems: [...problems] }
    problems.add(result.problem)
  }
  throw new Error(`No sandbox process can be started: ${[...problems].join('; ')}`)
}

function unableToTry(tools: Tools): string | undefined {
  if (process.platform !== 'linux') return `the operating system is ${process.platform}`
  const absent = toolNames.filter((name) => tools[name] === undefined)
  return absent.length === 0 ? undefined : `not installed: ${absent.join(', ')}`
}

function filesFor({ chroot }: Layers, tools: Tools): string[] {
  return chroot ? filesOfRoot([process.execPath, tools.setpriv!]) : []
}
