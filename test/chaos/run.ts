import { setTimeout as pause } from 'node:timers/promises'
import { countWaiting, findDifferences, type Differences } from './check.ts'
import { carryOut, planFaults, type FaultKind } from './faults.ts'
import { openChaosPlatform, type ChaosPlatform, type PlatformOptions } from './platform.ts'
import { chancesFrom } from './random.ts'
import { talk, type Counts, type Talk } from './talk.ts'

export interface ChaosOptions extends PlatformOptions {
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
  /** Events that still waited when the time limit was over. */
  waiting: number
  /** Descriptions of processes that ended unasked, or did not end gracefully at the end. */
  surprises: string[]
  differences: Differences
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

/** Time within which a platform must make progress between two faults. */
const patienceMilliseconds = 30_000

interface RunReport {
  counts: Counts
  faults: Map<FaultKind, number>
  tell(line: string): void
}

async function talkDuringFaults(
  platform: ChaosPlatform,
  { chatPath, talks }: { chatPath: string; talks: Talk[] },
  options: ChaosOptions,
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

/** @returns the number of events that wait when the time limit is over */
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

/** Ends the processes gracefully: all work in flight has its effect before the check. */
async function stopMembers({ members }: ChaosPlatform): Promise<string[]> {
  const ends = await Promise.all(members.map(async (member) => ({ member, exit: await member.stop() })))
  return ends.flatMap(({ member, exit }) => [
    ...member.surprises.map(({ code, signal }) => `the ${member.kind} ended by itself (${signal ?? `code ${code}`})`),
    // A process that does not handle the signal yet has no work to finish.
    ...(exit && exit.code !== 0 && exit.signal !== 'SIGTERM'
      ? [`the ${member.kind} did not stop in order (${exit.signal ?? `code ${exit.code}`})`]
      : []),
  ])
}
