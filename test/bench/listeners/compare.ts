import type { BackEnd } from '../back-ends.ts'
import { startFloorStreams } from '../floor/start.ts'
import { startApi } from '../isobot.ts'
import type { Options } from '../options.ts'
import { readProcessorTimes } from '../processor-time.ts'
import type { Servers } from '../servers.ts'
import { percentile } from '../statistics.ts'
import { listenersPerConversation, type StreamServer, type SystemOptions } from '../system.ts'
import { startCrowd } from './crowd-process.ts'
import { readQuietMemory, measurable } from './memory.ts'
import { protocols, type Protocol } from './stream.ts'

/** The measurements of a process that holds streams. */
export interface Held {
  streamsPerSecond: number
  /** Milliseconds from storing a message until the last listener of its conversation has received it. */
  p50: number
  p99: number
  /** Milliseconds between the first listener and the last one. */
  spread: number
  /** Bytes, on systems that report them. */
  memory?: { perStream: number; all: number; most: number }
  /** Processor milliseconds of the process that holds the streams, on systems that report them. */
  processorTime?: { perStream: number; perMessage: number }
}

export interface ListenersComparison {
  backEnd: BackEnd
  protocol: Protocol
  ours: Held
  floor: Held
}

type Start = (database: string, options: SystemOptions) => Promise<StreamServer>

/** Measures an api process with open streams, and a minimal server with the same number. */
export async function compareListeners(
  backEnd: BackEnd,
  servers: Servers,
  { listeners, messages, profileDirectory }: Options,
  parts: AsyncDisposableStack,
): Promise<ListenersComparison[]> {
  const conversations = listeners / listenersPerConversation
  const profiling = profileDirectory ? ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`] : []
  const comparisons: ListenersComparison[] = []
  for (const protocol of protocols) {
    const measure = async (name: string, start: Start, nodeOptions: string[]) => {
      // A process of its own for each measurement: leftovers of another one would count as the streams' memory.
      await using own = parts.use(new AsyncDisposableStack())
      const options = { servers, backEnd, conversations, nodeOptions: [...measurable, ...nodeOptions], parts: own }
      const server = await start(`${name}_${protocol}_on_${backEnd}`, options)
      return await hold(server, protocol, messages, own)
    }
    const ours = await measure('isobot', startApi, profiling)
    const floor = await measure('floor', startFloorStreams, [])
    comparisons.push({ backEnd, protocol, ours, floor })
  }
  return comparisons
}

async function hold(
  server: StreamServer,
  protocol: Protocol,
  messages: number,
  parts: AsyncDisposableStack,
): Promise<Held> {
  const listeners = server.chats.length * listenersPerConversation
  const crowd = startCrowd(parts)
  // One-time costs of every process (code that is loaded late, connections, subscriptions) belong to no stream.
  await crowd.open(protocol, server, 1)
  await crowd.say(server.chats.length)
  await crowd.close()

  const empty = await readQuietMemory(server.pid)
  const opening = await timed(server.pid, () => crowd.open(protocol, server, listenersPerConversation))
  await crowd.say(server.chats.length)
  const saying = await timed(server.pid, () => crowd.say(messages))
  // Last, because the collection discards compiled code too.
  const full = await readQuietMemory(server.pid)

  const delays = saying.result.map(({ storedAt, lastAt }) => lastAt - storedAt).toSorted((a, b) => a - b)
  const spreads = saying.result.map(({ firstAt, lastAt }) => lastAt - firstAt).toSorted((a, b) => a - b)
  return {
    streamsPerSecond: listeners / opening.result,
    p50: percentile(delays, 50),
    p99: percentile(delays, 99),
    spread: percentile(spreads, 50),
    ...(empty && full && { memory: { perStream: (full.now - empty.now) / listeners, all: full.now, most: full.most } }),
    ...(opening.processorTime !== undefined &&
      saying.processorTime !== undefined && {
        processorTime: {
          perStream: opening.processorTime / listeners,
          perMessage: saying.processorTime / messages,
        },
      }),
  }
}

/**
 * Measures the processor time of a process during some work, in milliseconds; undefined on systems that do not report
 * it.
 */
async function timed<Result>(pid: number, work: () => Promise<Result>) {
  const before = await readProcessorTimes()
  const result = await work()
  const after = await readProcessorTimes()
  return { result, processorTime: before && after && after.own(pid) - before.own(pid) }
}
