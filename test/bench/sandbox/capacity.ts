import { sandboxMegabytes } from '#shared/config/sandbox-memory.ts'
import { startBotHost } from '../isobot.ts'
import { startServers } from '../servers.ts'
import { botSource, type BotInput, type BotOutput } from './bots.ts'
import { residentMegabytes } from './resident.ts'
import { startSide, type Program } from './sides.ts'

/** What a small machine has for a worker and its sandbox process together. */
export const workerMegabytes = 512
/** So much of it goes to the sandbox process, if the operator says nothing else. */
export const sandboxShare = sandboxMegabytes(1, workerMegabytes * 1024 * 1024)
/** The heap that Node gives itself where a container has no more memory than that. */
const nodeOptions = [`--max-old-space-size=${workerMegabytes / 2}`, '--max-semi-space-size=1']

const step = 20
const most = 600

export interface Capacity {
  bots: number
  /** Resident memory of the process that talks to the database; absent where the bots are in the same one. */
  workerMegabytes?: number
  /** Resident memory of the process that holds the bots. */
  botsMegabytes: number
}

/**
 * Adds bots to a real worker until the first of them was thrown away, or the worker and its sandbox process have more
 * memory than a small machine. A bot was thrown away if it begins to count its calls from one again.
 *
 * @returns undefined where the system does not tell how much memory is resident
 */
export async function measureOurCapacity(parts: AsyncDisposableStack): Promise<Capacity | undefined> {
  await using own = parts.use(new AsyncDisposableStack())
  const servers = await startServers(own)
  const options = { servers, backEnd: 'redis' as const, conversations: 0, nodeOptions, parts: own }
  const host = await startBotHost('isobot_capacity', { SANDBOX_MEMORY: String(sandboxShare) }, options)
  const code = `
    const handle = ${botSource('plain')}
    export const actions = { call: ({ input, client }) => handle(input, client) }`
  const bots: Awaited<ReturnType<typeof host.createBot>>[] = []
  let reached: Capacity | undefined
  for (let visits = 1; bots.length < most; visits++) {
    for (let count = 0; count < step; count++) bots.push(await host.createBot(code))
    // In the order in which they came: if one is gone, making room for it throws away the next, and so all of them.
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
 * Adds bots to a side that has no worker beside them, until they have as much memory as a small machine.
 *
 * @returns undefined where the system does not tell how much memory is resident
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
