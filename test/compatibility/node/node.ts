import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestSandbox, type TestSandbox } from '../../sandbox/fixture.ts'
import { writeMeasured } from '../write-measured.ts'
import { subjectOf } from './subjects.ts'
import { tryInIsolate, tryInNode } from './trial.ts'
import { wrapTest } from './wrap-test.ts'

type Result = 'passes' | 'missing' | 'error differs' | 'value differs' | 'left out'

interface Row {
  subject: string
  result: Result
  /** The first problem. */
  reason: string
}

const version = process.version

/**
 * Runs the tests of Node for modules and globals that isolates have: each in an isolate, as the bundle of a bot, if it passes in
 * Node in the same wrapper and without files, processes and threads.
 *
 * @param source a checkout of Node, or a folder with its `test/parallel` and `test/fixtures/keys`
 * @param writes whether to write the results into the documentation too
 */
export async function measureNode(source: string, writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const folder = parts.adopt(await mkdtemp(join(tmpdir(), 'isobot-node-tests-')), (path) =>
    rm(path, { recursive: true }),
  )
  const sandbox = await openTestSandbox({ processes: 2 })
  parts.defer(() => sandbox.close())
  const tests = join(source, 'test', 'parallel')
  const names = (await readdir(tests)).filter((name) => subjectOf(name) !== undefined).toSorted()
  const waiting = names.values()
  const rows: Row[] = []
  async function tryNext(): Promise<void> {
    for (const name of waiting) {
      const [result, reason] = await tryTest(join(tests, name), { name, folder, sandbox })
      rows.push({ subject: subjectOf(name)!, result, reason })
      console.log(`${result}: ${name} ${inLine(reason)}`)
    }
  }
  await Promise.all([tryNext(), tryNext()])
  const lines = tableOf(rows)
  console.log(lines.join('\n'))
  if (writes) await writeMeasured('node-modules.md', lines)
}

async function tryTest(
  path: string,
  { name, folder, sandbox }: { name: string; folder: string; sandbox: TestSandbox },
): Promise<[Result, string]> {
  let code: string
  try {
    code = await wrapTest(path)
  } catch (error) {
    return ['left out', (error as Error).message]
  }
  const inNode = await tryInNode(code, folder, name)
  if (inNode.skipped !== undefined || inNode.problem) return ['left out', inNode.skipped ?? inNode.problem!.text]
  const { problem, skipped } = await tryInIsolate(code, sandbox)
  if (skipped !== undefined) return ['left out', skipped]
  if (!problem) return ['passes', '']
  const reason = `${problem.text} at ${placeIn(code, problem.stack)}`
  if (isMissing.test(problem.text)) return ['missing', reason]
  return [isOfErrors.test(problem.text) ? 'error differs' : 'value differs', reason]
}

/** Words of errors by which isolates name what they do not have, and of globals that the page on the web platform names. */
const isMissing =
  /ERR_METHOD_NOT_IMPLEMENTED|is not available here|MODULE_NOT_FOUND|SharedArrayBuffer is not defined|resize is not a function|Only an ArrayBuffer can be transferred/

/** Words of assertions about what a function throws. */
const isOfErrors = /Missing expected exception|Comparison|should (?:have )?throw|ERR_INVALID_|The input did not match/

/** The line of the program where a problem arose. */
function placeIn(code: string, stack = ''): string {
  const lines = code.split('\n')
  for (const [, line] of stack.matchAll(/bot\.js:(\d+):\d+/g)) {
    const shown = lines[Number(line) - 1]?.trim()
    if (shown) return shown.slice(0, 120)
  }
  return 'an unknown place'
}

function inLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 400)
}

const results = ['passes', 'missing', 'error differs', 'value differs', 'left out'] as const

function tableOf(rows: Row[]): string[] {
  const countsOf = (some: Row[]) => results.map((each) => some.filter(({ result }) => result === each).length)
  const row = (name: string, some: Row[]) => `| ${[name, ...countsOf(some)].join(' | ')} |`
  const subjects = [...Map.groupBy(rows, ({ subject }) => subject)].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return [
    `${new Date().toISOString().slice(0, 10)}, on Node ${version}, ${rows.length} tests.`,
    '',
    '| Tests of | Pass | Name what is missing | Errors differ | Values differ | Left out |',
    '| --- | --- | --- | --- | --- | --- |',
    ...subjects.map(([subject, some]) => row(subject, some)),
    row('all', rows),
  ]
}
