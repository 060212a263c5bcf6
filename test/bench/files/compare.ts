import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { megabyte } from '#shared/units.ts'
import { startChild } from '../../../cli/start/children.ts'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { startAskedProcess } from '../asked-process.ts'
import { startFileHost } from '../isobot.ts'
import { round, table } from '../report.ts'
import { residentMegabytes } from '../sandbox/resident.ts'
import type { Servers } from '../servers.ts'
import { untilOk, type SystemOptions } from '../system.ts'
import type { S3Answer, S3Question } from './s3-process.ts'

const stores = ['postgres', 's3'] as const
type Store = (typeof stores)[number]

const contentMegabytes = 1024
/** An upload before the measured ones, after which the process has the memory that any upload takes. */
const firstMegabytes = 32
const chunk = Buffer.alloc(64 * 1024, 'content')
const millisecondsBetweenReadings = 50

/** The smallest rates in MB/s, where the floor is not lower, and the largest growth in MB. */
const targets: { rate: Record<Store, number>; growth: number } = { rate: { postgres: 25, s3: 100 }, growth: 64 }

interface Measured {
  store: Store
  /** Megabytes per second, ours and the floor's. */
  rates: { ours: number; floor: number }
  /** The most resident memory of the api during the upload over that before, in megabytes; undefined off Linux. */
  growth: number | undefined
}

/** Measures an upload of 1 GB to each store, in turn with one to a server that reads it and keeps nothing. */
export async function compareFiles(servers: Servers): Promise<Measured[]> {
  await using parts = new AsyncDisposableStack()
  const floorUrl = await startFloor(parts)
  const measured: Measured[] = []
  for (const store of stores) {
    console.error(`Measuring files in ${store}`)
    measured.push(await measure(store, floorUrl, servers))
  }
  return measured
}

async function measure(store: Store, floorUrl: string, servers: Servers): Promise<Measured> {
  await using parts = new AsyncDisposableStack()
  const options: SystemOptions = { servers, backEnd: 'postgres', conversations: 0, nodeOptions: [], parts }
  const limits = { FILE_MB: String(2 * contentMegabytes), BOT_FILES_MB: String(4 * contentMegabytes) }
  const bucket = store === 's3' ? await startBucket(parts) : {}
  const host = await startFileHost(`files_in_${store}`, options, { ...limits, ...bucket })
  await upload(await host.createFile('first'), firstMegabytes)
  const floor = await upload(floorUrl, contentMegabytes)
  const memory = watchMemory(host.pid)
  const ours = await upload(await host.createFile('content'), contentMegabytes)
  return { store, rates: { ours, floor }, growth: await memory.growth() }
}

async function startFloor(parts: AsyncDisposableStack): Promise<string> {
  const port = await freePort()
  const script = join(import.meta.dirname, '..', 'floor', 'contents.ts')
  const child = await startChild('floor of files', [process.execPath, script], { environment: { PORT: String(port) } })
  parts.defer(async () => void (await child.stop()))
  const url = `http://127.0.0.1:${port}`
  await untilOk(url)
  return url
}

async function startBucket(parts: AsyncDisposableStack): Promise<NodeJS.ProcessEnv> {
  const script = new URL('./s3-process.ts', import.meta.url)
  const { ask } = startAskedProcess<S3Question, S3Answer>('the S3 server', script, parts)
  return (await ask({})).environment
}

/** Sends a content of this size. @returns megabytes per second, until the answer */
async function upload(url: string, megabytes: number): Promise<number> {
  const begin = performance.now()
  const length = megabytes * megabyte
  const sent = request(url, { method: 'PUT', headers: { 'content-length': length } })
  const answered = once(sent, 'response')
  await pipeline(Readable.from(chunks(length)), sent)
  const [response] = await answered
  response.resume()
  if (response.statusCode !== 200) throw new Error(`An upload was answered with ${response.statusCode}`)
  return megabytes / ((performance.now() - begin) / 1000)
}

function* chunks(length: number): Generator<Buffer> {
  for (let left = length; left > 0; left -= chunk.length) yield chunk.subarray(0, Math.min(left, chunk.length))
}

/** Reads the resident memory of a process periodically, until its growth is asked for. */
function watchMemory(pid: number): { growth(): Promise<number | undefined> } {
  const readings: Promise<number | undefined>[] = [residentMegabytes(pid)]
  const timer = setInterval(() => readings.push(residentMegabytes(pid)), millisecondsBetweenReadings)
  return {
    async growth() {
      clearInterval(timer)
      const [before, ...during] = await Promise.all(readings)
      if (before === undefined) return undefined
      return Math.max(...during.map((reading) => reading ?? 0)) - before
    },
  }
}

/** One line on the load. */
export function describeFiles(): string {
  return `One upload of ${contentMegabytes} MB over HTTP; the floor is a bare \`node:http\` server that keeps nothing of it`
}

/** Makes the Markdown table. */
export function filesTable(measured: Measured[]): string {
  return table(
    ['contents in', 'MB/s', 'floor, MB/s', 'ours / floor', 'aim, MB/s', 'growth of the api, MB', 'aim, MB'],
    measured.map(({ store, rates: { ours, floor }, growth }) => [
      store,
      round(ours),
      round(floor),
      (ours / floor).toFixed(2),
      `≥ ${targets.rate[store]}`,
      growth === undefined ? '' : round(growth),
      `≤ ${targets.growth}`,
    ]),
  )
}
