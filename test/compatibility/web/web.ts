import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { openTestSandbox, bot, type TestSandbox } from '../../sandbox/fixture.ts'
import { runInIsolate, runInNode } from '../run-bundle.ts'
import { writeMeasured } from '../write-measured.ts'
import { areaOf, exclusionOf } from './areas.ts'
import { readTest, wrapTest, type WebTest } from './wrap-test.ts'

/** The name of a subtest, its state, 0 if it passes, and the message of its failure. */
type Subtest = [name: string, state: number, message: string]

type Result = 'passes' | 'missing' | 'fails' | 'fails in Node too'

interface Row {
  area: string
  /** The results of the subtests; undefined for a file that is not run. */
  results?: Result[]
}

const results = ['passes', 'fails in Node too', 'missing', 'fails'] as const
const patience = 8000

/**
 * Runs web-platform tests of the globals that isolates have: each in an isolate, as the bundle of a bot, and in Node, from which
 * the failures follow that are the isolate's alone.
 *
 * @param source a checkout of the web-platform tests, or a selection of them with its `resources/testharness.js`
 * @param writes whether to write the results into the documentation too
 */
export async function measureWeb(source: string, writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'isobot-web-tests-')), (path) =>
    rm(path, { recursive: true }),
  )
  const sandbox = await openTestSandbox({ processes: 2 })
  parts.defer(() => sandbox.close())
  const all = await readdir(source, { recursive: true, withFileTypes: true })
  const paths = all
    .filter(({ name }) => name.endsWith('.any.js'))
    .map(({ parentPath, name }) => relative(source, join(parentPath, name)))
    .filter((path) => areaOf(path) !== undefined)
    .toSorted()
  const waiting = paths.values()
  const rows: Row[] = []
  async function tryNext(): Promise<void> {
    for (const path of waiting) rows.push(await tryFile(path, { source, folder, sandbox }))
  }
  await Promise.all([tryNext(), tryNext()])
  const lines = tableOf(rows)
  console.log(lines.join('\n'))
  if (writes) await writeMeasured('web-platform.md', lines)
}

interface Trial {
  source: string
  folder: string
  sandbox: TestSandbox
}

async function tryFile(path: string, trial: Trial): Promise<Row> {
  const area = areaOf(path)!
  const test = readTest(trial.source, path)
  const exclusion = exclusionOf(test.text)
  if (exclusion !== undefined) {
    console.log(`left out: ${path} ${exclusion}`)
    return { area }
  }
  const results: Result[] = []
  for (const variant of test.variants) results.push(...(await tryVariant({ test, variant }, trial)))
  return { area, results }
}

/**
 * Runs a test in Node and in an isolate. Subtests that only Node reaches fail in the isolate, mostly because of the first failure there:
 * later ones are made when the earlier ones pass.
 */
async function tryVariant(
  { test, variant }: { test: WebTest; variant: string },
  { source, folder, sandbox }: Trial,
): Promise<Result[]> {
  const code = wrapTest(source, { test, variant, patience })
  const name = `${test.path}${variant}`
  const inNode = await subtestsOf(runInNode(code, folder, name.replaceAll(/\W/g, '-')))
  const inIsolate = await subtestsOf(runInIsolate(bot(code), sandbox).then(({ body }) => body))
  const passing = new Set(inNode.filter(([, state]) => state === 0).map(([subtest]) => subtest))
  const reached = new Set(inIsolate.map(([subtest]) => subtest))
  const [, , cause = ''] = inIsolate.find(([, state]) => state !== 0) ?? []
  const unreached = [...passing]
    .filter((subtest) => !reached.has(subtest))
    .map((subtest): Subtest => [subtest, 3, `not reached: ${cause}`])
  return [...inIsolate, ...unreached].map(([subtest, state, message]) => {
    const result = resultOf({ state, message, passesInNode: passing.has(subtest) })
    if (result !== 'passes') console.log(`${result}: ${name}: ${inLine(subtest)}: ${inLine(message)}`)
    return result
  })
}

/** The answer of a test, or a subtest for the failure of all. */
async function subtestsOf(running: Promise<unknown>): Promise<Subtest[]> {
  try {
    const answer = await running
    if (Array.isArray(answer)) return answer as Subtest[]
    return [['the whole file', 1, (answer as { problem: { text: string } }).problem.text]]
  } catch (error) {
    return [['the whole file', 1, (error as Error).message]]
  }
}

function resultOf({ state, message, passesInNode }: { state: number; message: string; passesInNode: boolean }): Result {
  if (state === 0) return 'passes'
  if (isMissing.test(message)) return 'missing'
  return passesInNode ? 'fails' : 'fails in Node too'
}

/** Words of errors by which isolates name what they do not have, and of what the page says that they lack. */
const isMissing =
  /ERR_METHOD_NOT_IMPLEMENTED|is not available here|NotSupportedError|(?:is|are) not supported|has no format "brotli"|(?:SharedArrayBuffer|WebAssembly|Atomics|PerformanceObserver) is not|sabConstructor is not a constructor|(?:resize|transfer|createObjectURL|supports|getPublicKey) is not a function|Only an ArrayBuffer can be transferred/

function inLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 300)
}

function tableOf(rows: Row[]): string[] {
  const row = (name: string, some: Row[]) => {
    const subtests = some.flatMap(({ results }) => results ?? [])
    const counts = results.map((each) => subtests.filter((result) => result === each).length)
    const leftOut = some.filter(({ results }) => results === undefined).length
    return `| ${[name, some.length, leftOut, ...counts].join(' | ')} |`
  }
  const areas = [...Map.groupBy(rows, ({ area }) => area)].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return [
    `${new Date().toISOString().slice(0, 10)}, beside Node ${process.version}.`,
    '',
    '| Tests of | Files | Left out | Parts that pass | Fail in Node too | Name what is missing | Fail here alone |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...areas.map(([area, some]) => row(area, some)),
    row('all', rows),
  ]
}
