import { once } from 'node:events'
import { compareBundles } from './bundles/compare.ts'
import { bundlesTable, describeBundles } from './bundles/report.ts'
import { compare, type Comparison } from './compare.ts'
import { endingsTable, measureEndings } from './endings.ts'
import { compareFairness, floods, type FairnessComparison, type Flood } from './fairness/compare.ts'
import { describeFairness, fairnessTable } from './fairness/report.ts'
import { compareFiles, describeFiles, filesTable } from './files/compare.ts'
import { describeFlows, flowsTable, measureFlows } from './flows.ts'
import { describeHandover, handoverTable, measureHandover } from './handover.ts'
import { describeHistories, historiesTable, measureHistories } from './histories.ts'
import { compareListeners, type ListenersComparison } from './listeners/compare.ts'
import { maxStreams } from './listeners/open-files.ts'
import { describeListeners, listenersTable } from './listeners/report.ts'
import { largeBodiesTable, measureLargeBodies } from './large-bodies.ts'
import { measureMemory, memoryTable, type MemoryCourse } from './memory.ts'
import { describeModels, measureModels, modelsTable } from './models.ts'
import { comparePeers } from './peers/compare.ts'
import { peerTables } from './peers/report.ts'
import { readOptions, usage, type Options } from './options.ts'
import { compareTable, describeMachine, describeStraightLine, processorTable, wakeUpsTable } from './report.ts'
import { compareSandboxes } from './sandbox/compare.ts'
import { describeAbsence, describeCapacity, describeSandboxes, sandboxesTable } from './sandbox/report.ts'
import { describeSearch, measureSearch, searchTables } from './search/compare.ts'
import { measureSchemas, schemasTables } from './schemas.ts'
import { startServers, type Servers } from './servers.ts'
import { summaryTable, type Results } from './summary.ts'
import { listenersPerConversation } from './system.ts'
import { describeTables, measureTables, tablesTable } from './tables.ts'
import { compareUploads, describeUploads, uploadsTable } from './uploads.ts'
import { compareWorkers, describeWorkers, workersTable } from './workers.ts'
import { describeWebchat, measureWebchat, webchatTables } from './webchat/compare.ts'

/**
 * `npm run bench`: measures the path of a chat user's message to the bot and of the reply back, an api process with
 * open streams, the response times of bots in the sandbox, and the cost of the isolation, each beside a floor, which
 * does the same with none of our code. Also measures how soon endless code is stopped, the cost of validation by
 * developers' schemas, and the effect of a flooded bot, or of hostile uploads, on other bots. See the README in this
 * folder.
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
  // Processes that are just being started end with this one.
  process.exit(130)
}

const withoutServers = new Set<string>(['bundles', 'sandbox', 'endings', 'schemas'])

async function measure(options: Options, parts: AsyncDisposableStack): Promise<void> {
  const { benchmarks } = options
  const sections = [describeMachine()]
  const results: Results = {}
  // These need no servers, which would use the same cores.
  if (benchmarks.includes('bundles')) sections.push(...(await bundles(options, results, parts)))
  if (benchmarks.includes('sandbox')) sections.push(...(await sandboxes(options, results, parts)))
  if (benchmarks.includes('endings')) sections.push(endingsTable(await measureEndings(options, parts)))
  if (benchmarks.includes('schemas')) sections.push(...schemasTables(await measureSchemas(options)))
  if (benchmarks.some((name) => !withoutServers.has(name))) {
    const servers = await startServers(parts)
    if (benchmarks.includes('straight-line')) sections.push(...(await straightLine(servers, options, results, parts)))
    if (benchmarks.includes('listeners')) sections.push(...(await listeners(servers, options, results, parts)))
    if (benchmarks.includes('fairness')) sections.push(...(await fairness(servers, options)))
    if (benchmarks.includes('uploads')) sections.push(...(await uploads(servers, options)))
    if (benchmarks.includes('tables')) sections.push(...(await tables(servers)))
    if (benchmarks.includes('files')) sections.push(...(await files(servers)))
    if (benchmarks.includes('search')) sections.push(...(await search(servers)))
    if (benchmarks.includes('flows')) sections.push(...(await flows(servers)))
    if (benchmarks.includes('handover')) sections.push(...(await handover(servers, options)))
    if (benchmarks.includes('webchat')) sections.push(...(await webchat(servers)))
    if (benchmarks.includes('models')) sections.push(...(await models(servers, options)))
    if (benchmarks.includes('workers')) sections.push(...(await workers(servers, options)))
    if (benchmarks.includes('histories')) sections.push(...(await histories(servers)))
    if (benchmarks.includes('peers')) sections.push(...(await peers(servers, options, parts)))
    if (benchmarks.includes('memory')) sections.push(...(await memory(servers, options, parts)))
  }
  sections.push(summaryTable(results))
  console.log(sections.filter((text) => text !== '').join('\n\n'))
}

async function bundles(options: Options, results: Results, parts: AsyncDisposableStack): Promise<string[]> {
  console.error('Measuring bundles')
  results.bundles = await compareBundles(options, parts)
  return [describeBundles(options), bundlesTable(results.bundles)]
}

async function sandboxes(options: Options, results: Results, parts: AsyncDisposableStack): Promise<string[]> {
  console.error('Measuring the sandbox')
  const comparison = await compareSandboxes(options, parts)
  results.sandbox = comparison
  return [
    describeSandboxes(options),
    sandboxesTable(comparison),
    describeAbsence(comparison),
    describeCapacity(comparison),
  ]
}

async function straightLine(
  servers: Servers,
  options: Options,
  results: Results,
  parts: AsyncDisposableStack,
): Promise<string[]> {
  const comparisons: Comparison[] = []
  for (const backEnd of options.backEnds) {
    console.error(`Measuring the straight line on ${backEnd}`)
    await using systems = parts.use(new AsyncDisposableStack())
    comparisons.push(await compare(backEnd, servers, options, systems))
  }
  results.straightLine = comparisons
  return [
    describeStraightLine(options),
    compareTable(comparisons, options),
    processorTable(comparisons),
    wakeUpsTable(comparisons),
  ]
}

async function files(servers: Servers): Promise<string[]> {
  return [describeFiles(), filesTable(await compareFiles(servers))]
}

async function search(servers: Servers): Promise<string[]> {
  console.error('Measuring search')
  const measured = await measureSearch(servers)
  return [describeSearch(measured), ...searchTables(measured)]
}

async function flows(servers: Servers): Promise<string[]> {
  console.error('Measuring flows')
  return [describeFlows(), flowsTable(await measureFlows(servers))]
}

async function handover(servers: Servers, options: Options): Promise<string[]> {
  console.error('Measuring replies of members')
  return [describeHandover(), handoverTable(await measureHandover(servers, options))]
}

async function webchat(servers: Servers): Promise<string[]> {
  console.error('Measuring the web chat')
  return [describeWebchat(), ...webchatTables(await measureWebchat(servers))]
}

async function models(servers: Servers, options: Options): Promise<string[]> {
  console.error('Measuring language models')
  return [describeModels(), modelsTable(await measureModels(servers, options))]
}

async function workers(servers: Servers, options: Options): Promise<string[]> {
  const comparisons = []
  for (const backEnd of options.backEnds) {
    console.error(`Measuring workers on ${backEnd}`)
    comparisons.push(...(await compareWorkers(backEnd, servers, options)))
  }
  return [describeWorkers(), workersTable(comparisons)]
}

async function histories(servers: Servers): Promise<string[]> {
  console.error('Measuring large histories')
  return [describeHistories(), historiesTable(await measureHistories(servers))]
}

async function peers(servers: Servers, options: Options, parts: AsyncDisposableStack): Promise<string[]> {
  console.error('Measuring durable engines')
  return [describeStraightLine(options), ...peerTables(await comparePeers(servers, options, parts))]
}

async function memory(servers: Servers, options: Options, parts: AsyncDisposableStack): Promise<string[]> {
  const courses: MemoryCourse[] = []
  for (const backEnd of options.backEnds) courses.push(await measureMemory(backEnd, servers, options, parts))
  return [memoryTable(courses)]
}

async function fairness(servers: Servers, { backEnds }: Options): Promise<string[]> {
  const comparisons: FairnessComparison[] = []
  for (const backEnd of backEnds) {
    for (const flood of Object.keys(floods) as Flood[]) {
      console.error(`Measuring fairness on ${backEnd}, beside hooks with ${flood}`)
      comparisons.push(await compareFairness(backEnd, flood, servers))
    }
  }
  return [describeFairness(), fairnessTable(comparisons)]
}

async function uploads(servers: Servers, { backEnds }: Options): Promise<string[]> {
  const comparisons = []
  for (const backEnd of backEnds) {
    console.error(`Measuring hostile uploads on ${backEnd}`)
    comparisons.push(await compareUploads(backEnd, servers))
  }
  return [describeUploads(), uploadsTable(comparisons)]
}

async function tables(servers: Servers): Promise<string[]> {
  console.error('Measuring tables')
  const measured = await measureTables(servers)
  console.error('Measuring large bodies')
  const largeBodies = await measureLargeBodies(servers)
  return [describeTables(measured), tablesTable(measured), largeBodiesTable(largeBodies)]
}

async function listeners(
  servers: Servers,
  wanted: Options,
  results: Results,
  parts: AsyncDisposableStack,
): Promise<string[]> {
  const possible = Math.floor(maxStreams() / listenersPerConversation) * listenersPerConversation
  const options = { ...wanted, listeners: Math.min(wanted.listeners, possible) }
  if (options.listeners < wanted.listeners) {
    console.error(
      `This machine lets a process open too few files for ${wanted.listeners} listeners: measuring ${options.listeners}. ` +
        'To measure all, raise the limit (ulimit -Hn shows it)',
    )
  }
  const comparisons: ListenersComparison[] = []
  for (const backEnd of options.backEnds) {
    console.error(`Measuring ${options.listeners} listeners on ${backEnd}`)
    comparisons.push(...(await compareListeners(backEnd, servers, options, parts)))
  }
  results.listeners = comparisons
  return [describeListeners(options), listenersTable(comparisons)]
}

async function untilStopped(): Promise<'stopped'> {
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  return 'stopped'
}

await main()
