import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { megabyte } from '#shared/units.ts'
import { startAskedProcess } from './asked-process.ts'
import { startTableHost, type TableHost } from './isobot.ts'
import type { NeighbourAnswer, NeighbourQuestion } from './neighbour.ts'
import { round, table } from './report.ts'
import type { Servers } from './servers.ts'
import { percentile } from './statistics.ts'
import { smallMachineHeap, type SystemOptions } from './system.ts'

const rowCount = 1000
/** A row of a table with this factor has up to 44 KB, and so those of this body fit. */
const factor = 11
const total = 40 * megabyte - 1000

interface Measured {
  name: string
  status: number
  seconds: number
  /** By which the api's memory grew at most; undefined on other systems than Linux. */
  grown: number | undefined
  /** Of the neighbour's requests. */
  sorted: number[]
}

/** Bodies of 40 MB. */
const bodies: Record<string, () => Buffer> = {
  '1000 rows of 40 KB': () => rows((bytes) => JSON.stringify({ text: 'x'.repeat(bytes - 12) })),
  '1000 rows of 40 KB, in Greek': () => rows((bytes) => JSON.stringify({ text: 'λ'.repeat((bytes - 12) / 2) })),
  '1000 rows with 13,000 empty lists each': () =>
    rows((bytes) => `{"list":[${'[],'.repeat(Math.floor((bytes - 14) / 3))}0]}`),
  'one string': () => Buffer.from(`{"rows":[{"text":"${'x'.repeat(total)}"}]}`),
  'open brackets': () => Buffer.alloc(total, '['),
  'rows of open brackets': () => Buffer.from(`{"rows":[${'['.repeat(total)}`),
  'empty lists beside the rows': () => Buffer.from(`{"rows":[{}],"other":[${'[],'.repeat(total / 3)}0]}`),
}

function rows(rowOf: (bytes: number) => string): Buffer {
  const row = rowOf(Math.floor(total / rowCount) - 1)
  return Buffer.from(`{"rows":[${Array.from({ length: rowCount }, () => row).join(',')}]}`)
}

/**
 * Measures what bodies of 40 MB cost the api, each in a process of its own with the heap of a small machine, and a
 * neighbour, who asks for a table.
 */
export async function measureLargeBodies(servers: Servers): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const [index, [name, body]] of Object.entries(bodies).entries()) {
    await using parts = new AsyncDisposableStack()
    const options: SystemOptions = {
      servers,
      backEnd: 'postgres',
      conversations: 0,
      nodeOptions: smallMachineHeap,
      parts,
    }
    const host = await startTableHost(`large_bodies_${index}`, options)
    const path = '/v1/tables/LargeTable/rows'
    const schema = { text: { type: 'string' }, list: { type: 'array' } }
    await host.ask('/v1/tables', { name: 'LargeTable', factor, schema })
    await host.ask(path, { rows: Array.from({ length: rowCount }, () => ({ text: 'warm' })) })
    const content = body()
    const users = new URL('./neighbour.ts', import.meta.url)
    const neighbour = startAskedProcess<NeighbourQuestion, NeighbourAnswer>('the neighbour', users, parts)
    await neighbour.ask({ ask: { url: `${host.url}/v1/tables/LargeTable`, headers: host.headers } })
    const before = await memoryOf(host.pid)
    const begin = performance.now()
    const status = await send(host, path, content)
    const seconds = (performance.now() - begin) / 1000
    const { milliseconds } = await neighbour.ask({ ask: 'times' })
    const after = await memoryOf(host.pid)
    const grown = before && after && (after.most - before.now) / megabyte
    measured.push({ name, status, seconds, grown, sorted: milliseconds.toSorted((a, b) => a - b) })
  }
  return measured
}

/** Sends a request, and reads its answer to the end. The api may answer, and close, before the end of the body. */
async function send({ url, headers }: TableHost, path: string, body: Buffer): Promise<number> {
  const sending = request(`${url}${path}`, { method: 'POST', headers: { ...headers, 'content-length': body.length } })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sending.once('response', resolve).once('error', reject)
  })
  sending.end(body)
  const answer = await answered
  sending.on('error', () => {})
  answer.resume()
  await once(answer, 'close')
  return answer.statusCode!
}

/** Resident memory in bytes, and its maximum since the last call. */
async function memoryOf(pid: number): Promise<{ now: number; most: number } | undefined> {
  if (process.platform !== 'linux') return undefined
  const status = await readFile(`/proc/${pid}/status`, 'latin1')
  await writeFile(`/proc/${pid}/clear_refs`, '5')
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) * 1024
  return { now: bytes('VmRSS'), most: bytes('VmHWM') }
}

/** Makes the Markdown table. */
export function largeBodiesTable(measured: Measured[]): string {
  return table(
    ['40 MB of', 'status', 'seconds', 'memory, MB (aim ≤ 128)', 'neighbour p50 ms', 'slowest ms (aim ≤ 100)'],
    measured.map(({ name, status, seconds, grown, sorted }) => [
      name,
      String(status),
      seconds.toFixed(1),
      grown === undefined ? '' : round(grown),
      round(percentile(sorted, 50)),
      round(sorted.at(-1)!),
    ]),
  )
}
