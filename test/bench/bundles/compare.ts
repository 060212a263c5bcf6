import { startAskedProcess } from '../asked-process.ts'
import type { Options } from '../options.ts'
import { buildEchoBots, type EchoBot } from './echo-bots.ts'
import type { Measured } from './measure.ts'
import { measureInSandbox, type MeasuredSandbox } from './sandbox.ts'

export interface BundleComparison {
  name: string
  /** By round; measurements that were made next to each other have the same index. */
  ours: MeasuredSandbox[]
  floor: Measured[]
}

/** Measures the response times of bots in our sandbox and in plain Node, in turn and in changing order. */
export async function compareBundles({ rounds }: Options, parts: AsyncDisposableStack): Promise<BundleComparison[]> {
  const bots = await buildEchoBots()
  const comparisons: BundleComparison[] = []
  for (const bot of bots) {
    const comparison: BundleComparison = { name: bot.name, ours: [], floor: [] }
    const sides = [
      async () => void comparison.ours.push(await alone(measureInSandbox, bot, parts)),
      async () => void comparison.floor.push(await alone(measureInPlainNode, bot, parts)),
    ]
    for (let round = 0; round < rounds; round++) {
      for (const measure of round % 2 === 0 ? sides : sides.toReversed()) await measure()
    }
    comparisons.push(comparison)
  }
  return comparisons
}

type Measure<Result> = (bot: EchoBot, parts: AsyncDisposableStack) => Promise<Result>

/** Runs a measurement in a process of its own, which ends with it. */
async function alone<Result>(measure: Measure<Result>, bot: EchoBot, parts: AsyncDisposableStack): Promise<Result> {
  await using own = parts.use(new AsyncDisposableStack())
  return await measure(bot, own)
}

function measureInPlainNode(bot: EchoBot, parts: AsyncDisposableStack): Promise<Measured> {
  const script = new URL('./plain-node.ts', import.meta.url)
  return startAskedProcess<EchoBot, Measured>('plain Node', script, parts).ask(bot)
}
