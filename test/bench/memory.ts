import type { BackEnd } from './back-ends.ts'
import { startIsobot } from './isobot.ts'
import { measurable, readQuietMemory } from './listeners/memory.ts'
import { startLoad } from './load-process.ts'
import type { Options } from './options.ts'
import { round, table } from './report.ts'
import { residentMegabytes } from './sandbox/resident.ts'
import type { Servers } from './servers.ts'
import { megabyte } from '#shared/units.ts'

/** The memory of the processes after a number of events, in megabytes. */
interface Sample {
  events: number
  api: number
  worker: number
  sandbox: number
}

export interface MemoryCourse {
  backEnd: BackEnd
  samples: Sample[]
}

const parts = ['api', 'worker', 'sandbox'] as const
/** Number of readings over all events. */
const readings = 20
/**
 * Makes a worker handle many events at full load, and reads the memory periodically: after garbage collection, with no
 * message in flight.
 */
export async function measureMemory(
  backEnd: BackEnd,
  servers: Servers,
  { events, conversations }: Options,
  whole: AsyncDisposableStack,
): Promise<MemoryCourse> {
  await using own = whole.use(new AsyncDisposableStack())
  const system = await startIsobot({ servers, backEnd, conversations, nodeOptions: measurable, parts: own })
  const load = await startLoad(system, own)
  const samples: Sample[] = []
  let handled = 0
  let seconds = 3
  while (handled < events) {
    const begin = performance.now()
    const { messages } = await load.measure({ inFlight: conversations, warmUpSeconds: 0, seconds })
    handled += messages
    const rate = messages / ((performance.now() - begin) / 1000)
    seconds = Math.max(3, Math.min(events / readings, events - handled) / rate)
    const sample = await read(system.processes, handled)
    if (!sample) break
    samples.push(sample)
    console.error(`${handled} events on ${backEnd}: the worker holds ${round(sample.worker)} MB`)
  }
  return { backEnd, samples }
}

async function read({ api, worker }: { api: number; worker: number }, events: number): Promise<Sample | undefined> {
  const [ofApi, ofWorker] = [await readQuietMemory(api), await readQuietMemory(worker)]
  const sandbox = await residentMegabytes(worker, { isBelow: true })
  if (!ofApi || !ofWorker || sandbox === undefined) return undefined
  return { events, api: ofApi.now / megabyte, worker: ofWorker.now / megabyte, sandbox }
}

/** Makes the Markdown table of each process's memory over the events. */
export function memoryTable(courses: MemoryCourse[]): string {
  const rows = courses.flatMap(({ backEnd, samples }) => {
    if (samples.length < 4) return []
    const settled = samples.slice(samples.length / 2)
    return parts.map((part) => {
      const at = (share: number) => round(samples[Math.round(share * (samples.length - 1))]![part])
      const kilobytes = slope(settled.map((sample) => [sample.events, sample[part]])) * 1000 * 1024
      const { events } = samples.at(-1)!
      return [backEnd, part, `${events}`, at(0), at(0.25), at(0.5), at(0.75), at(1), kilobytes.toFixed(1)]
    })
  })
  const quarters = ['MB at first', 'after ¼', '½', '¾', 'at the end']
  return table(['back end', 'process', 'events', ...quarters, 'KB per 1,000 events, second half'], rows)
}

/** The slope of the regression line through the points (least squares). */
function slope(points: [x: number, y: number][]): number {
  const [x, y] = [mean(points.map((point) => point[0])), mean(points.map((point) => point[1]))]
  const above = points.reduce((sum, [px, py]) => sum + (px - x) * (py - y), 0)
  return above / points.reduce((sum, [px]) => sum + (px - x) ** 2, 0)
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
