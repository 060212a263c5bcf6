import { sandboxMegabytes } from '#shared/config/sandbox-memory.ts'
import { startBotHost } from '../isobot.ts'
import { startServers } from '../servers.ts'
import { smallMachineHeap, smallMachineMegabytes } from '../system.ts'
import { botSource, type BotInput, type BotOutput } from './bots.ts'
import { residentMegabytes } from './resident.ts'
import { startSide, type Program } from './sides.ts'

/** Memory of a small machine for a worker and its sandbox process together. */
export const workerMegabytes = smallMachineMegabytes
/** The default share of the sandbox process. */
export const sandboxShare = sandboxMegabytes(1, workerMegabytes * 1024 * 1024)
const step = 20
const most = 600

export interface Capacity {
  bots: number
  /** Resident memory of the process that uses the database; absent where the same process holds the bots. */
  workerMegabytes?: number
  /** Resident memory of the process that holds the bots. */
  botsMegabytes: number
}

/**
 * Adds bots to a real worker until the first of them has been disposed, or until the worker and its sandbox process
 * exceed the memory of a small machine. A bot has been disposed if it restarts its count of calls.
 *
 * @returns undefined on systems that do not report resident memory
 */
export async function measureOurCapacity(parts: AsyncDisposableStack): Promise<Capacity | undefined> {
  await using own = parts.use(new AsyncDisposableStack())
  const servers = await startServers(own)
  const options = { servers, backEnd: 'redis' as const, conversations: 0, nodeOptions: smallMachineHeap, parts: own }
  const host = await startBotHost('isobot_capacity', { SANDBOX_MEMORY: String(sandboxShare) }, options)
  const code = `
    const handle = ${botSource('plain')}
    export const actions = { call: ({ input, client }) => handle(input, client) }`
  const bots: Awaited<ReturnType<typeof host.createBot>>[] = []
  let reached: Capacity | undefined
  for (let visits = 1; bots.length < most; visits++) {
    for (let count = 0; count < step; count++) bots.push(await host.createBot(code))
    // In the order of their creation: if one is gone, its replacement evicts the next, and so on for all of them.
    for (const [index, bot] of bots.entries()) {
      const input: BotInput = { text: 'hello', asks: false }
      const { calls } = (await bot.call('call', input)) as BotOutput
      if (calls !== visits - Math.floor(index / step)) return reached
    }
    const worker = await residentMegabytes(host.workerPid)
    const sandbox = await residentMegabytes(host.workerPid, { isBelow: true })
    if (worker === undefined || sandbox === undefined || worker + sandbox > workerMegabytes) return reached
    reached = { bots: bots.length, workerMegabytes: worker, botsMegabytes: sandbox }
  }
  return reached
}

/**
 * Adds bots to a side without a worker, until they take the memory of a small machine.
 *
 * @returns undefined on systems that do not report resident memory
 */
export async function measureCapacity(
  name: string,
  program: Program,
  parts: AsyncDisposableStack,
): Promise<Capacity | undefined> {
  await using own = parts.use(new AsyncDisposableStack())
  const { ask, megabytes } = startSide(name, program, own)
  let reached: Capacity | undefined
  for (let bots = step; bots <= most; bots += step) {
    await ask({ measure: 'fill', bots: step })
    const resident = await megabytes()
    if (resident === undefined || resident > workerMegabytes) return reached
    reached = { bots, botsMegabytes: resident }
  }
  return reached
}
