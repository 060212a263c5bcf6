import { setTimeout as pause } from 'node:timers/promises'
import { botCode } from './bot.ts'
import { countWaiting, findDifferences, type Differences } from './check.ts'
import { flowBotCode } from './flow-bot.ts'
import { storingCode } from './data/bot.ts'
import { checkData, countUnindexed, type DataCheck } from './data/check.ts'
import { createTables, keepWriting, openWriter, type DataCounts, type Writer } from './data/writers.ts'
import { carryOut, planFaults, type FaultKind } from './faults.ts'
import { openChaosPlatform, type ChaosPlatform, type PlatformOptions } from './platform.ts'
import { chancesFrom } from './random.ts'
import { talk, type Counts, type Speakers, type Talk } from './talk.ts'

export interface ChaosOptions extends PlatformOptions {
  /** `data`: the bot also writes files and rows of tables, as do programs over HTTP. `flow`: it consists of flows. */
  bot: 'text' | 'data' | 'flow'
  /** The same seed plans the same faults. */
  seed: number
  /** Minimum number of messages; further ones are sent until the faults are over. */
  messages: number
  conversations: number
  faults: number
  kinds: readonly FaultKind[]
  /** Milliseconds between two faults, on average. */
  spacingMilliseconds: number
  /** How long events may wait after the last fault. */
  drainMilliseconds: number
}

/** The faults of a run, and its result. */
export interface ChaosReport {
  options: ChaosOptions
  counts: Counts
  faults: Map<FaultKind, number>
  /** Duration of the conversations with faults, and the time from then until no event waited. */
  seconds: { faults: number; drain: number }
  /** Events, and files to be indexed, that still waited when the time limit was over. */
  waiting: number
  /** Descriptions of processes that ended unasked, or did not end gracefully at the end. */
  surprises: string[]
  differences: Differences
  /** Files and tables, where the bot writes them. */
  data?: DataCheck & { counts: DataCounts }
}

/**
 * Makes users talk to a bot during faults, and compares the result with that of a serial run.
 *
 * @param parts receives what has to be closed afterwards
 * @param tell receives the progress, periodically
 */
export async function runChaos(
  options: ChaosOptions,
  parts: AsyncDisposableStack,
  tell: (line: string) => void = () => {},
): Promise<ChaosReport> {
  const platform = await openChaosPlatform(options, parts)
  const storesData = options.bot === 'data'
  const hasFlows = options.bot === 'flow'
  const code = hasFlows ? flowBotCode : botCode(storesData ? storingCode : undefined)
  const { botId, chatPath, talks } = await platform.openTalks(options.conversations, code)
  const data = storesData ? await openData(platform, botId) : undefined
  const counts: Counts = { acknowledged: 0, replayed: 0, refusals: new Map() }
  const faults = new Map<FaultKind, number>()

  const begunAt = performance.now()
  await talkDuringFaults(
    platform,
    { chatPath, talks, beside: data && ((speakers) => writeDuringFaults(platform, data, speakers)) },
    options,
    { counts, faults, tell },
  )
  const mendedAt = performance.now()
  const waiting = await untilHandled(platform, options.drainMilliseconds, tell)
  const handledAt = performance.now()
  const surprises = await stopMembers(platform)
  return {
    options,
    counts,
    faults,
    seconds: { faults: (mendedAt - begunAt) / 1000, drain: (handledAt - mendedAt) / 1000 },
    waiting,
    surprises,
    differences: await findDifferences(platform.databaseUrl(), talks, { hasFlows }),
    ...(data && { data: { ...(await checkData(platform.databaseUrl(), talks, data.writers)), counts: data.counts } }),
  }
}

/** The programs that write files and rows over HTTP. */
interface Data {
  writers: Writer[]
  headers: Record<string, string>
  counts: DataCounts
}

/** Programs that write at once. */
const writers = 8

async function openData({ apiUrls, headers }: ChaosPlatform, botId: string): Promise<Data> {
  const ofBot = { ...headers, 'x-bot-id': botId }
  await createTables(apiUrls[0]!, ofBot)
  return {
    writers: Array.from({ length: writers }, (_, index) => openWriter(`w${index + 1}`)),
    headers: ofBot,
    counts: { uploads: 0, uploadedBytes: 0, writes: 0, refusals: new Map(), found: 0 },
  }
}

/** Time within which a platform must make progress between two faults. */
const patienceMilliseconds = 30_000

interface RunReport {
  counts: Counts
  faults: Map<FaultKind, number>
  tell(line: string): void
}

async function writeDuringFaults(
  { apiUrls }: ChaosPlatform,
  { writers, headers, counts }: Data,
  { chances, isOver }: Speakers,
): Promise<void> {
  const options = { apiUrls, headers, chances, pauseMilliseconds: 300, isOver }
  await Promise.all(writers.map((writer) => keepWriting(writer, options, counts)))
}

interface Talking {
  chatPath: string
  talks: Talk[]
  /** How many times the events of a message of text has one of this bot. */
  eventsPerMessage?: number
  /** Works meanwhile. */
  beside?: ((speakers: Speakers) => Promise<void>) | undefined
}

/** Makes users talk while faults happen, until both are over. */
export async function talkDuringFaults(
  platform: ChaosPlatform,
  { chatPath, talks, eventsPerMessage = 1, beside }: Talking,
  options: Pick<ChaosOptions, 'seed' | 'kinds' | 'faults' | 'spacingMilliseconds' | 'messages'>,
  { counts, faults, tell }: RunReport,
): Promise<void> {
  const kinds = options.kinds.filter((kind) => kind !== 'Redis restarted' || platform.redis)
  const plan = planFaults(chancesFrom(options.seed), kinds, options.faults, options.spacingMilliseconds)
  const planned = plan.reduce((sum, { afterMilliseconds }) => sum + afterMilliseconds, 0)
  let isMended = false
  const speakers = {
    apiUrls: platform.apiUrls,
    chatPath,
    chances: chancesFrom(options.seed + 1),
    // Makes the conversations last about as long as the faults, which also delay them.
    pauseMilliseconds: ((planned * talks.length) / options.messages / 2) * eventsPerMessage,
    isOver: () => isMended && counts.acknowledged >= options.messages,
  }
  const talking = Promise.all(talks.map((each) => talk(each, speakers, counts)))
  const working = beside?.(speakers)
  let enough = 0
  const happening = carryOut(plan, platform, {
    happened(kind) {
      faults.set(kind, (faults.get(kind) ?? 0) + 1)
      tell(`${counts.acknowledged} messages; ${kind}`)
    },
    async untilProgress() {
      const deadline = performance.now() + patienceMilliseconds
      while (counts.acknowledged < enough && performance.now() < deadline) await pause(20)
      enough = counts.acknowledged + options.messages / options.faults / 2
    },
  }).finally(() => (isMended = true))
  await Promise.all([talking, working, happening])
}

/** @returns the number of events and files that wait when the time limit is over */
export async function untilHandled(
  platform: ChaosPlatform,
  milliseconds: number,
  tell: (line: string) => void,
): Promise<number> {
  const deadline = performance.now() + milliseconds
  for (;;) {
    const events = await countWaiting(platform.databaseUrl())
    const unindexed = await countUnindexed(platform.databaseUrl())
    const waiting = events + unindexed
    if (waiting === 0 || performance.now() > deadline) return waiting
    tell(`${events} events and ${unindexed} files to be indexed wait`)
    await pause(500)
  }
}

/** Ends the processes gracefully: all work in flight has its effect before the check. */
export async function stopMembers({ members }: ChaosPlatform): Promise<string[]> {
  const ends = await Promise.all(members.map(async (member) => ({ member, exit: await member.stop() })))
  return ends.flatMap(({ member, exit }) => [
    ...member.surprises.map(({ code, signal }) => `the ${member.kind} ended by itself (${signal ?? `code ${code}`})`),
    // A process that does not handle the signal yet has no work to finish.
    ...(exit && exit.code !== 0 && exit.signal !== 'SIGTERM'
      ? [`the ${member.kind} did not stop in order (${exit.signal ?? `code ${exit.code}`})`]
      : []),
  ])
}
