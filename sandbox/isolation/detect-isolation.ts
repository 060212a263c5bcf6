import { sandboxCommand, type Command, type CommandOptions, type OtherProgram } from './command.ts'
import type { Profile, SandboxLog } from '../protocol/contract.ts'
import { openProbeSockets } from './probe-sockets.ts'
import { bareLayers, compositionsFor, type Layers } from './layers.ts'
import { layerDescriptions as descriptions, isolationLayers, type IsolationLayer } from './names.ts'
import { filesOfRoot } from './chroot.ts'
import { probe } from './probe.ts'
import { findTools, toolNames, type Tools } from './tools.ts'

/** Enough for a process without isolates. */
const probeDataKilobytes = 200_000

export interface IsolationOptions {
  profile: Profile
  /** Required layers: without them, no process is started. */
  require: readonly IsolationLayer[]
  log: SandboxLog
  /** The programs that make the layers; searched for by default. */
  tools?: Tools
}

/** The isolation of every sandbox process of this worker. */
export interface Isolation {
  readonly profile: Profile
  readonly holds: ReadonlySet<IsolationLayer>
  /**
   * The command line of one process. If processes have accounts of their own, no two have the same.
   *
   * @param dataKilobytes cap on its data; a process with a JIT does not enforce it by itself
   * @param program the program to run; by default, the one that holds isolates
   */
  command(dataKilobytes: number, program?: OtherProgram): Command
}

/**
 * The machine provides less than `SANDBOX_REQUIRE` demands. The message gives the reason and the remedy for each
 * missing layer.
 */
export class MissingIsolationError extends Error {
  override name = 'MissingIsolationError'
}

/** Results by composition, kept because the machine's capabilities do not change while this process runs. */
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
  return `${meaning}: unavailable${problems.length === 0 ? '' : ` (${problems.join('; ')})`}; ${remedy}`
}

interface Strongest {
  options: Omit<CommandOptions, 'dataKilobytes'>
  holds: Set<IsolationLayer>
  /** The reasons why no stronger composition works. */
  problems: string[]
}

async function strongest(profile: Profile, tools: Tools): Promise<Strongest> {
  const unable = findObstacle(tools)
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

function findObstacle(tools: Tools): string | undefined {
  if (process.platform !== 'linux') return `the operating system is ${process.platform}`
  const absent = toolNames.filter((name) => tools[name] === undefined)
  return absent.length === 0 ? undefined : `not installed: ${absent.join(', ')}`
}

function filesFor({ chroot }: Layers, tools: Tools): string[] {
  return chroot ? filesOfRoot([process.execPath, tools.setpriv!]) : []
}
