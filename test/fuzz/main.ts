import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { describeReport, isClean } from './report.ts'
import { runFuzz, type FuzzOptions } from './run.ts'

const usage = `Usage: npm run fuzz -- [options]
  --requests <number>          random requests, beside the matrix and the raw ones (20000)
  --flows <number>             bots of generated flows, with conversations (200)
  --seconds <number>           after so many, no further ones are begun (1800)
  --concurrency <number>       requests at one time (8)
  --backend redis|postgres     where jobs and signals live (postgres)
  --seed <number>              makes the same requests again (a new one)
  --paths <prefixes>           operations whose paths begin so, with commas between (all)
  --only <number>              the request with this number alone; give the --requests and --seed of its run
  --only-flows <number>        the generated flows with this number alone
  --logs <level>               what the processes log (fatal)`

/**
 * `npm run fuzz`: attacks a platform of its own with requests that no client sends, and with requests of one tenant for
 * rows of another. See the README in this folder.
 */
async function main(): Promise<void> {
  let options: FuzzOptions
  try {
    options = readOptions()
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
    process.exitCode = 1
    return
  }
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(() => 'stopped' as const)
  await using parts = new AsyncDisposableStack()
  console.error(`Fuzz on ${options.backEnd}, seed ${options.seed}`)
  const how = await Promise.race([runAndReport(options, parts), stopped])
  if (how !== 'stopped') return
  await parts.disposeAsync()
  process.exit(130)
}

async function runAndReport(options: FuzzOptions, parts: AsyncDisposableStack): Promise<void> {
  const begunAt = performance.now()
  const report = await runFuzz(options, parts, (line) => {
    console.error(`${((performance.now() - begunAt) / 1000).toFixed(0).padStart(4)} s  ${line}`)
  })
  console.log(describeReport(report))
  if (!isClean(report)) process.exitCode = 1
}

function readOptions(): FuzzOptions {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '20000' },
      flows: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '1800' },
      concurrency: { type: 'string', default: '8' },
      backend: { type: 'string', default: 'postgres' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      paths: { type: 'string' },
      only: { type: 'string' },
      'only-flows': { type: 'string' },
      logs: { type: 'string', default: 'fatal' },
    },
  })
  const { backend, only, 'only-flows': onlyFlows, paths } = values
  if (backend !== 'redis' && backend !== 'postgres') {
    throw new Error(`--backend must be redis or postgres, not '${backend}'`)
  }
  return {
    backEnd: backend,
    seed: whole('seed', values.seed),
    requests: whole('requests', values.requests),
    flows: whole('flows', values.flows),
    maxMilliseconds: whole('seconds', values.seconds) * 1000,
    concurrency: only === undefined ? whole('concurrency', values.concurrency) : 1,
    matrixStep: 1,
    ...(paths !== undefined && { paths: paths.split(',') }),
    ...(only !== undefined && { only: whole('only', only) }),
    ...(onlyFlows !== undefined && { onlyFlows: whole('only-flows', onlyFlows) }),
    settings: { fsync: 'off', full_page_writes: 'off' },
    environment: { LOG_LEVEL: values.logs },
  }
}

function whole(name: string, text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 0) return number
  throw new Error(`--${name} must be a whole number, not '${text}'`)
}

await main()
