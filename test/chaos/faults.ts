import { setTimeout as pause } from 'node:timers/promises'
import type { Member } from './members.ts'
import type { Link } from './network.ts'
import type { Chances } from './random.ts'
import type { Postgres, RedisServer } from './servers.ts'

/** All kinds of faults. */
export const faultKinds = [
  'worker killed',
  'api killed',
  'sandbox killed',
  'worker paused',
  'queue emptied',
  'queue forgets who holds its jobs',
  'Redis restarted',
  'PostgreSQL crashed',
  'network cut',
  'network silent',
  'answers lost',
] as const
export type FaultKind = (typeof faultKinds)[number]

/** One fault of a plan. */
export interface Fault {
  kind: FaultKind
  /** Delay before the fault. */
  afterMilliseconds: number
  /** Duration of the fault, if it has one. */
  milliseconds: number
  /** Selects the fault's target among the possible ones: a number from 0 up to 1. */
  draw: number
}

/** The targets of faults. */
export interface FaultTargets {
  members: Member[]
  postgres: Postgres
  /** Absent when the queue is in PostgreSQL. */
  redis?: RedisServer | undefined
  queue: Pick<RedisServer, 'flush' | 'expireLocks'>
}

/** Minimum and maximum duration of faults, in milliseconds. A worker is paused for longer than its job locks last. */
const lengths: Partial<Record<FaultKind, [number, number]>> = {
  'worker paused': [7000, 12_000],
  'Redis restarted': [200, 3000],
  'network cut': [500, 5000],
  'network silent': [1000, 8000],
  'answers lost': [500, 3000],
}

/**
 * Plans faults: each kind equally often, in random order.
 *
 * @param spacing milliseconds between two faults, on average
 */
export function planFaults(chances: Chances, kinds: readonly FaultKind[], count: number, spacing: number): Fault[] {
  const planned: FaultKind[] = []
  while (planned.length < count) planned.push(...chances.shuffle(kinds))
  return planned.slice(0, count).map((kind) => ({
    kind,
    afterMilliseconds: chances.between(0, 2 * spacing),
    milliseconds: chances.between(...(lengths[kind] ?? [0, 0])),
    draw: chances.between(0, 1),
  }))
}

/** Observes the faults and the platform's progress. */
export interface Witness {
  /** Called when a fault begins. */
  happened(kind: FaultKind): void
  /** Waits until the platform has made progress since the previous fault: a stalled platform would show nothing. */
  untilProgress(): Promise<void>
}

/**
 * Performs the faults of a plan, sequentially or overlapping, as planned. A fault whose target is already down waits
 * for the target. Resolves when all faults are over.
 */
export async function carryOut(plan: Fault[], targets: FaultTargets, witness: Witness): Promise<void> {
  const busy = new Map<unknown, Promise<void>>()

  async function happenAfter(before: Promise<void> | undefined, fault: Fault, target: Target): Promise<void> {
    await before
    if (target && 'isUp' in target) await untilUp(target)
    witness.happened(fault.kind)
    await happen(fault, targets, target)
  }

  for (const fault of plan) {
    await pause(fault.afterMilliseconds)
    await witness.untilProgress()
    const target = targetOf(fault, targets)
    const over = happenAfter(busy.get(target), fault, target)
    busy.set(target, over)
    // `Promise.all` below reports a failure.
    over.catch(() => {})
  }
  await Promise.all(busy.values())
}

type Target = Member | Postgres | RedisServer | undefined

function targetOf({ kind, draw }: Fault, { members, postgres, redis }: FaultTargets): Target {
  const oneOf = (some: Member[]) => some[Math.floor(draw * some.length)]
  switch (kind) {
    case 'api killed':
      return oneOf(members.filter((member) => member.kind === 'api'))
    case 'worker killed':
    case 'sandbox killed':
    case 'worker paused':
      return oneOf(members.filter((member) => member.kind === 'worker'))
    case 'network cut':
    case 'network silent':
    case 'answers lost':
      return oneOf(members)
    case 'queue emptied':
    case 'queue forgets who holds its jobs':
    case 'Redis restarted':
      return redis ?? postgres
    case 'PostgreSQL crashed':
      return postgres
  }
}

async function happen({ kind, milliseconds, draw }: Fault, targets: FaultTargets, target: Target): Promise<void> {
  const member = target as Member
  switch (kind) {
    case 'worker killed':
    case 'api killed':
      return member.signal('SIGKILL')
    case 'sandbox killed':
      return void member.killSandboxes()
    case 'worker paused':
      member.signal('SIGSTOP')
      await pause(milliseconds)
      return member.signal('SIGCONT')
    case 'queue emptied':
      return targets.queue.flush()
    case 'queue forgets who holds its jobs':
      return targets.queue.expireLocks()
    case 'Redis restarted':
      return targets.redis?.restart(milliseconds)
    case 'PostgreSQL crashed':
      return targets.postgres.crash()
    case 'network cut':
    case 'network silent':
    case 'answers lost': {
      const chosen = someOf(member.links, kind, draw)
      for (const link of chosen) fail[kind](link)
      await pause(milliseconds)
      for (const link of chosen) link.mend()
    }
  }
}

const fail: Record<'network cut' | 'network silent' | 'answers lost', (link: Link) => void> = {
  'network cut': (link) => link.cut(),
  'network silent': (link) => link.silence(),
  'answers lost': (link) => link.dropResponses(),
}

/** Selects one link or all. `place` has selected the process already; its further digits select here. */
function someOf(links: Link[], kind: FaultKind, draw: number): Link[] {
  // `answers lost` affects one link at a time: with all of them lost, no client could receive a wrong answer.
  const choices =
    kind === 'answers lost' ? [links.slice(0, 1), links.slice(-1)] : [links, ...links.map((link) => [link])]
  return choices[Math.floor(draw * 997) % choices.length]!
}

async function untilUp(member: Member): Promise<void> {
  while (!member.isUp) await pause(50)
}
