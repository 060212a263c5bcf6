import { once } from 'node:events'
import { compare, type Comparison } from './compare.ts'
import { readOptions, usage, type Options } from './options.ts'
import { compareTable, describeRun, processorTable } from './report.ts'
import { startServers } from './servers.ts'

/**
 * `npm run bench`: measures the way of a chat user's message to the bot and of the reply back, beside a floor, which is
 * the same pipeline with nothing of ours. See the README in this folder.
 */
async function main(): Promise<void> {
  let options: Options
  try {
    options = readOptions()
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
    process.exitCode = 1
    return
  }
  const stopped = untilStopped()
  await using parts = new AsyncDisposableStack()
  const how = await Promise.race([measure(options, parts), stopped])
  if (how !== 'stopped') return
  await parts.disposeAsync()
  // What was just being started ends with this process.
  process.exit(130)
}

async function measure(options: Options, parts: AsyncDisposableStack): Promise<void> {
  const servers = await startServers(parts)
  const comparisons: Comparison[] = []
  for (const backEnd of options.backEnds) {
    console.error(`Measuring on ${backEnd}`)
    await using systems = parts.use(new AsyncDisposableStack())
    comparisons.push(await compare(backEnd, servers, options, systems))
  }
  const tables = [compareTable(comparisons, options), processorTable(comparisons)].filter((text) => text !== '')
  console.log([describeRun(options), ...tables].join('\n\n'))
}

async function untilStopped(): Promise<'stopped'> {
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  return 'stopped'
}

await main()
