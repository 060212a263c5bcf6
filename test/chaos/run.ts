import { setTimeout as pause } from 'node:timers/promises'
import { countWaiting, findDifferences, type Differences } from './check.ts'
import { carryOut, planFaults, type FaultKind } from './faults.ts'
import { openChaosPlatform, type ChaosPlatform, type PlatformOptions } from './platform.ts'
import { chancesFrom } from './random.ts'
import { talk, type Counts, type Talk } from './talk.ts'

export interface ChaosOptions extends PlatformOptions {
  /** Plans the same faults for the same number. */
  seed: number
  /** Messages that are said at least; as many more as are said until the faults are over. */
  messages: number
  conversations: number
  faults: number
  kinds: readonly FaultKind[]
  /** Milliseconds between two faults, on average. */
  spacingMilliseconds: number
  /** How long events may wait when everything is mended. */
  drainMilliseconds: number
}

/** What happened, and what came of it. */
export interface ChaosReport {
  options: ChaosOptions
  counts: Counts
  faults: Map<FaultKind, number>
  /** How long people talked while things went wrong, and how long it took afterwards until nothing waited. */
  seconds: { faults: number; drain: number }
  /** Events that still waited when the time for them was over. */
  waiting: number
  /** Processes that ended although nobody asked them to, or that did not end in order at the end, in words. */
  surprises: string[]
  differences: Differences
}

/**
 * Has people talk to a bot while things go wrong, and compares what came of it with what a serial run gives.
 *
 * @param parts what is to be closed afterwards
 * @param tell is told, now and then, how far it is
 */
export async function runChaos(
  options: ChaosOptions,
  parts: AsyncDisposableStack,
  tell: (line: string) => void = () => {},
): Promise<ChaosReport> {
  const platform = await openChaosPlatform(options, parts)
  const { chatPath, talks } = await platform.openTalks(options.conversations)
  const counts: Counts = { acknowledged: 0, replayed: 0, refusals: new Map() }
  const faults = new Map<FaultKind, number>()

  const begunAt = performance.now()
  await talkDuringFaults(platform, { chatPath, talks }, options, { counts, faults, tell })
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
    differences: await findDifferences(platform.databaseUrl(), talks),
  }
}

/** How long a platform may take to get on between two faults. */
const patienceMilliseconds = 30_000

interface Told {
  counts: Counts
  faults: Map<FaultKind, number>
  tell(line: string): void
}

async function talkDuringFaults(
  platform: ChaosPlatform,
  { chatPath, talks }: { chatPath: string; talks: Talk[] },
  options: ChaosOptions,
  { counts, faults, tell }: Told,
): Promise<void> {
  const kinds = options.kinds.filter((kind) => kind !== 'Redis restarted' || platform.redis)
  const plan = planFaults(chancesFrom(options.seed), kinds, options.faults, options.spacingMilliseconds)
  const planned = plan.reduce((sum, { afterMilliseconds }) => sum + afterMilliseconds, 0)
  let isMended = false
  const speakers = {
    apiUrls: platform.apiUrls,
    chatPath,
    chances: chancesFrom(options.seed + 1),
    // So that people talk for about as long as things go wrong, which also delays them.
    pauseMilliseconds: (planned * talks.length) / options.messages / 2,
    isOver: () => isMended && counts.acknowledged >= options.messages,
  }
  const talking = Promise.all(talks.map((each) => talk(each, speakers, counts)))
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
  await Promise.all([talking, happening])
}

/** @returns how many events wait when the time is over */
async function untilHandled(
  platform: ChaosPlatform,
  milliseconds: number,
  tell: (line: string) => void,
): Promise<number> {
  const deadline = performance.now() + milliseconds
  for (;;) {
    const waiting = await countWaiting(platform.databaseUrl())
    if (waiting === 0 || performance.now() > deadline) return waiting
    tell(`${waiting} events wait`)
    await pause(500)
  }
}

/** Ends the processes in order: what is under way anywhere has its effect before anybody looks. */
async function stopMembers({ members }: ChaosPlatform): Promise<string[]> {
  const ends = await Promise.all(members.map(async (member) => ({ member, exit: await member.stop() })))
  return ends.flatMap(({ member, exit }) => [
    ...member.surprises.map(({ code, signal }) => `the ${member.kind} ended by itself (${signal ?? `code ${code}`})`),
    // One whose program did not listen for the signal yet had nothing to put in order.
    ...(exit && exit.code !== 0 && exit.signal !== 'SIGTERM'
      ? [`the ${member.kind} did not stop in order (${exit.signal ?? `code ${exit.code}`})`]
      : []),
  ])
}
