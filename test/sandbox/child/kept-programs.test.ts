import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FromProcess } from '#sandbox/host/frames.ts'
import { bundlePrograms, type Programs } from '#sandbox/host/programs.ts'
import { runHandle } from '#sandbox/host/run-handle.ts'
import type { Bundle } from '#sandbox/protocol/contract.ts'
import type { BundleSource, ToProcess } from '#sandbox/protocol/protocol.ts'
import { bot, callRun } from '../fixture.ts'

export interface KeptRuns {
  programs: Programs
  softBytes: number
  runs: {
    frame: Extract<ToProcess, { type: 'run' }>
    source: Omit<BundleSource, 'environment'>
    environment: Record<string, string>
  }[]
}

export interface KeptAnswer {
  sent: FromProcess[][]
  tookCaches: boolean[]
}

const program = join(import.meta.dirname, 'kept-programs.ts')

/** Runs these bundles one after another in a process that holds one isolate. */
async function answerTo(bundles: Bundle[], softBytes = 480_000_000): Promise<KeptAnswer> {
  const input: KeptRuns = {
    programs: await bundlePrograms(),
    softBytes,
    runs: bundles.map((bundle) => ({
      frame: runHandle(callRun(bundle), () => {}).begin() as KeptRuns['runs'][number]['frame'],
      source: { kind: bundle.kind ?? 'native', code: bundle.code, modules: [] },
      environment: bundle.environment ?? {},
    })),
  }
  const options = { input: JSON.stringify(input), encoding: 'utf8', timeout: 20_000 } as const
  const { stdout, stderr } = spawnSync(process.execPath, ['--no-node-snapshot', program], options)
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as KeptAnswer
}

/** The frames that the process sends for each run. */
async function framesOf(bundles: Bundle[], softBytes?: number): Promise<FromProcess[][]> {
  return (await answerTo(bundles, softBytes)).sent
}

/** Code with so many functions that a code cache is worth its memory. */
const functions = (count = 2000) =>
  Array.from({ length: count }, (_, index) => `const f${index} = (n) => n + ${index}`).join('\n')

const large = (body: string) => bot(`${functions()}\nexports.handler = async ({ env }) => { ${body} }`)

/** The frames by which the process asked for code or an environment before each run. */
const asked = (frames: FromProcess[][]) =>
  frames.map((each) => each.find(({ type }) => type === 'code' || type === 'environment')?.type)
const results = (frames: FromProcess[][]) =>
  frames.flat().flatMap((frame) => (frame.type === 'done' ? [JSON.parse(frame.result) as unknown] : []))

describe('an evicted bundle that is called again', () => {
  test('loads without its code, which the process has kept with the code cache that it made after the first run', async () => {
    const [one, other] = [large('return f7(1)'), large('return f8(1)')]
    const { sent: frames, tookCaches } = await answerTo([one, other, one, other])
    expect(results(frames)).toEqual([8, 9, 8, 9])
    expect(tookCaches).toEqual([true, true])
    expect(asked(frames)).toEqual(['code', 'code', 'environment', 'environment'])
    const types = frames[0]!.map(({ type }) => type)
    // A crash while the cache is made is attributed to the run, which has ended.
    expect(types.slice(types.lastIndexOf('long'))).toEqual(['long', 'done', 'over'])
  })

  test('starts from scratch in no realm: it begins with new globals and modules', async () => {
    const one = large('globalThis.count = (globalThis.count ?? 0) + 1; return count')
    expect(results(await framesOf([one, one, large('return 0'), one]))).toEqual([1, 2, 0, 1])
  })

  test('gets its environment anew, because no secret outlives an isolate', async () => {
    const one = large('return env.KEY')
    const runs = [{ ...one, environment: { KEY: 'old' } }, large('return 0'), { ...one, environment: { KEY: 'new' } }]
    const frames = await framesOf(runs)
    expect(results(frames)).toEqual(['old', 0, 'new'])
    expect(asked(frames).at(-1)).toBe('environment')
  })

  test('has the same lines in its errors, and the same source of its functions', async () => {
    const one = large('return new Error("here").stack + f3.toString()')
    const [first, , second] = results(await framesOf([one, large('return 0'), one])) as string[]
    expect(second).toBe(first)
    expect(second).toMatch(/bot\.js:2001:.*\(n\) => n \+ 3$/s)
  })

  test('gives each event a realm of its own where it asks for that', async () => {
    const one = large('globalThis.count = (globalThis.count ?? 0) + 1; return count')
    const isolated = { ...one, code: `${one.code}\nexports.isolation = 'event'` }
    const frames = await framesOf([isolated, isolated, large('return 0'), isolated, isolated])
    expect(results(frames)).toEqual([1, 1, 0, 1, 1])
    expect(asked(frames).at(-2)).toBe('environment')
  })
})

/** Returns the types of these globals. */
const kindsOf = (...names: string[]) => bot(`exports.handler = () => [${names.map((name) => `typeof ${name}`).join()}]`)

test('bundles load with those preludes that they need, each of which is rehearsed in this process first', async () => {
  const bundles = [
    kindsOf('Buffer'),
    kindsOf('fetch'),
    kindsOf('ReadableStream'),
    { ...kindsOf('Buffer', 'fetch', 'ReadableStream', 'performance'), kind: 'sdk' as const },
  ]
  const kinds = results(await framesOf(bundles))
  expect(kinds).toEqual([['function'], ['function'], ['function'], ['function', 'function', 'function', 'object']])
})

describe('the process keeps', () => {
  test('nothing for another bundle, even one with the same text, which may have another owner', async () => {
    const one = large('return 1')
    const frames = await framesOf([one, { ...one, id: 'another' }, { ...large('return 2'), id: 'changed' }])
    expect(results(frames)).toEqual([1, 1, 2])
    expect(asked(frames)).toEqual(['code', 'code', 'code'])
  })

  test('no bundle that is small, or whose program would take too large a part', async () => {
    const small = bot('exports.handler = () => 1')
    const huge = bot(`${functions(60_000)}\nexports.handler = () => 1`)
    const frames = await framesOf([small, huge, small, huge], 32_000_000)
    expect(asked(frames)).toEqual(['code', 'code', 'code', 'code'])
  })

  test('programs up to a limit, and drops the least recently used ones', async () => {
    // Each program has 0.14 MB, and all together may have 1 MB.
    const [first, second, ...others] = Array.from({ length: 10 }, () => {
      return bot(`${functions(300)}\nexports.handler = () => 1 /* ${'-'.repeat(100_000)} */`)
    })
    const runs = [first!, second!, ...others.slice(0, 4), first!, ...others.slice(4), first!, second!]
    const frames = await framesOf(runs, 8_000_000)
    const againAt = [6, 11, 12]
    expect(againAt.map((index) => asked(frames)[index])).toEqual(['environment', 'environment', 'code'])
  })

  test('no more programs once their code caches have taken a sum of memory, which is not freed', async () => {
    // Each cache has 0.2 MB, and all together may have 2 MB.
    const bots = Array.from({ length: 20 }, (_, index) => large(`return ${index}`))
    const [first, last] = [bots[0]!, bots.at(-1)!]
    const runs = [first, bots[1]!, first, ...bots.slice(2), first, last]
    const frames = await framesOf(runs, 16_000_000)
    const kept = ['code', 'code', 'environment']
    expect(asked(frames)).toEqual([...kept, ...bots.slice(2).map(() => 'code'), 'code', 'code'])
  })
})
