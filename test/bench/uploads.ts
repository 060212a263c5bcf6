import { setTimeout as pause } from 'node:timers/promises'
import { startAskedProcess } from './asked-process.ts'
import type { BackEnd } from './back-ends.ts'
import type { QuietAnswer, QuietQuestion } from './fairness/users.ts'
import { echoBot, startUploadHost, type UploadHost } from './isobot.ts'
import { round, table } from './report.ts'
import type { Servers } from './servers.ts'
import { percentile } from './statistics.ts'
import { megabyte } from '#shared/units.ts'

/** Uploads that are refused. */
const hostile = {
  // These exceed any limits of the compiler.
  '200,000 brackets': { code: `const a = ${'['.repeat(200_000)}1${']'.repeat(200_000)}` },
  '4 MB of decorators': { code: `class A {${'@x a;'.repeat(800_000)}}` },
  // These are read by the api, and refused before a worker sees them.
  '20 MB of text': { code: 'const quoted = "\\n";\n'.repeat(megabyte - 10_000), limits: { memoryMegabytes: 1e6 } },
  '2 million values': {
    code: '',
    ignored: Array.from({ length: 1_999_000 }, () => 0),
    limits: { memoryMegabytes: 1e6 },
  },
}
type Hostile = keyof typeof hostile
type HostileUpload = { code: string } & Record<string, unknown>

/** Conversations of the neighbour, with one message per second each. */
const conversations = 10
const seconds = 6
const rounds = 2

interface Course {
  /** Milliseconds from a message to its reply. */
  replies: number[]
  /** Milliseconds of uploads of a small bot. */
  uploads: number[]
  refused: number
}

interface UploadsComparison {
  backEnd: BackEnd
  alone: Course
  beside: Record<Hostile, Course>
}

/** Measures a neighbour alone, and in turn with that, while another workspace uploads hostile code continuously. */
export async function compareUploads(backEnd: BackEnd, servers: Servers): Promise<UploadsComparison> {
  await using parts = new AsyncDisposableStack()
  const options = { servers, backEnd, conversations, nodeOptions: [], parts }
  const host = await startUploadHost(`uploads_on_${backEnd}`, options)
  const users = new URL('./fairness/quiet-users.ts', import.meta.url)
  const { ask } = startAskedProcess<QuietQuestion, QuietAnswer>('the chat users', users, parts)
  await ask({ open: host.chats.map((chat) => ({ chatUrl: host.chatUrl, chat })) })
  const measure = async (course: Course, refused?: HostileUpload) => {
    const over = AbortSignal.timeout(seconds * 1000)
    const [{ latencies }, uploads, count] = await Promise.all([
      ask({ talkSeconds: seconds }),
      uploadAsNeighbour(host, over),
      refused === undefined ? 0 : uploadHostile(host, refused, over),
    ])
    course.replies.push(...latencies)
    course.uploads.push(...uploads)
    course.refused += count
  }
  await measure(newCourse())
  const alone = newCourse()
  const names = Object.keys(hostile) as Hostile[]
  const beside = Object.fromEntries(names.map((name) => [name, newCourse()])) as Record<Hostile, Course>
  for (let count = 0; count < rounds; count++) {
    await measure(alone)
    for (const name of names) await measure(beside[name], hostile[name])
  }
  return { backEnd, alone, beside }
}

function newCourse(): Course {
  return { replies: [], uploads: [], refused: 0 }
}

/** Uploads small bots, one at a time. */
async function uploadAsNeighbour({ upload }: UploadHost, over: AbortSignal): Promise<number[]> {
  const times: number[] = []
  while (!over.aborted) {
    const begin = performance.now()
    const { status } = await upload('neighbour', { code: echoBot() })
    if (status !== 200) throw new Error(`The neighbour's upload was answered with ${status}`)
    times.push(performance.now() - begin)
    await pause(100)
  }
  return times
}

/** Uploads what is refused, one upload after another without a pause. */
async function uploadHostile({ upload }: UploadHost, bot: HostileUpload, over: AbortSignal): Promise<number> {
  let refused = 0
  while (!over.aborted) {
    const { status } = await upload('hostile', bot)
    // It exceeds a limit, or the api's time limit where other work uses the processor too.
    if (![400, 413, 504].includes(status)) throw new Error(`A hostile upload was answered with ${status}`)
    refused++
  }
  return refused
}

/** One line on the load. */
export function describeUploads(): string {
  return (
    `A neighbour with ${conversations} messages a second who uploads a small bot again and again, alone and while another workspace ` +
    `has a hostile upload under way all the time; in turn, ${rounds} rounds of ${seconds} s`
  )
}

/** Makes the Markdown table of the effect of hostile uploads on a neighbour. */
export function uploadsTable(comparisons: UploadsComparison[]): string {
  const measures = [
    { name: 'reply, p50 ms', of: ({ replies }: Course) => percentileOf(replies, 50) },
    { name: 'reply, p99 ms', of: ({ replies }: Course) => percentileOf(replies, 99) },
    { name: 'upload, p50 ms', of: ({ uploads }: Course) => percentileOf(uploads, 50) },
    { name: 'upload, slowest ms', of: ({ uploads }: Course) => Math.max(...uploads) },
  ]
  return table(
    ['back end', 'hostile upload', 'refused', 'neighbour’s', 'alone', 'beside it', 'ratio'],
    comparisons.flatMap(({ backEnd, alone, beside }) =>
      Object.entries(beside).flatMap(([name, course]) =>
        measures.map(({ name: measure, of }) => {
          const ratio = (of(course) / of(alone)).toFixed(2)
          return [backEnd, name, String(course.refused), measure, round(of(alone)), round(of(course)), ratio]
        }),
      ),
    ),
  )
}

function percentileOf(values: number[], percent: number): number {
  return percentile(
    values.toSorted((a, b) => a - b),
    percent,
  )
}
