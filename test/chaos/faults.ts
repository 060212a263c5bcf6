import { setTimeout as pause } from 'node:timers/promises'
import type { Member } from './members.ts'
import type { Link } from './network.ts'
import type { Chances } from './random.ts'
import type { Postgres, RedisServer } from './servers.ts'

/** All that happens to the platform. */
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
  /** How long to wait before it. */
  afterMilliseconds: number
  /** How long it lasts, where it lasts. */
  milliseconds: number
  /** To which of those whom it can happen to: a number from 0 up to 1. */
  place: number
}

/** What faults happen to. */
export interface Scene {
  members: Member[]
  postgres: Postgres
  /** Absent: the queue is in PostgreSQL. */
  redis?: RedisServer | undefined
  queue: Pick<RedisServer, 'flush' | 'expireLocks'>
}

/** How long faults last, in milliseconds, from and to. A worker is paused for longer than its hold on jobs lasts. */
const lengths: Partial<Record<FaultKind, [number, number]>> = {
  'worker paused': [7000, 12_000],
  'Redis restarted': [200, 3000],
  'network cut': [500, 5000],
  'network silent': [1000, 8000],
  'answers lost': [500, 3000],
}

/**
 * Plans faults: each kind as often as the others, in any order.
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
    place: chances.between(0, 1),
  }))
}

/** Who looks on while things go wrong. */
export interface Witness {
  /** Is told of each fault when it begins. */
  happened(kind: FaultKind): void
  /** Waits until the platform has got on since the fault before: one that only lies there shows nothing. */
  untilProgress(): Promise<void>
}

/**
 * Has the faults of a plan happen, one after the other or several at once, as planned. One that would happen to what is
 * down already waits for it. Resolves when everything is mended.
 *
 */
export async function carryOut(plan: Fault[], scene: Scene, witness: Witness): Promise<void> {
  const busy = new Map<unknown, Promise<void>>()

  async function happenAfter(before: Promise<void> | undefined, fault: Fault, target: Target): Promise<void> {
    await before
    if (target && 'isUp' in target) await untilUp(target)
    witness.happened(fault.kind)
    await happen(fault, scene, target)
  }

  for (const fault of plan) {
    await pause(fault.afterMilliseconds)
    await witness.untilProgress()
    const target = targetOf(fault, scene)
    const over = happenAfter(busy.get(target), fault, target)
    busy.set(target, over)
    // A failure is told at the end.
    over.catch(() => {})
  }
  await Promise.all(busy.values())
}

type Target = Member | Postgres | RedisServer | undefined

function targetOf({ kind, place }: Fault, { members, postgres, redis }: Scene): Target {
  const oneOf = (some: Member[]) => some[Math.floor(place * some.length)]
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

async function happen({ kind, milliseconds, place }: Fault, scene: Scene, target: Target): Promise<void> {
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
      return scene.queue.flush()
    case 'queue forgets who holds its jobs':
      return scene.queue.expireLocks()
    case 'Redis restarted':
      return scene.redis?.restart(milliseconds)
    case 'PostgreSQL crashed':
      return scene.postgres.crash()
    case 'network cut':
    case 'network silent':
    case 'answers lost': {
      const chosen = someOf(member.links, kind, place)
      for (const link of chosen) fail[kind](link)
      await pause(milliseconds)
      for (const link of chosen) link.mend()
    }
  }
}

const fail: Record<'network cut' | 'network silent' | 'answers lost', (link: Link) => void> = {
  'network cut': (link) => link.cut(),
  'network silent': (link) => link.silence(),
  'answers lost': (link) => link.loseAnswers(),
}

/** One of them or all. The place has chosen the process already; its further digits choose here. */
function someOf(links: Link[], kind: FaultKind, place: number): Link[] {
  // When nothing is answered on any of them, no client can have been told what was not so.
  const choices =
    kind === 'answers lost' ? [links.slice(0, 1), links.slice(-1)] : [links, ...links.map((link) => [link])]
  return choices[Math.floor(place * 997) % choices.length]!
}

async function untilUp(member: Member): Promise<void> {
  while (!member.isUp) await pause(50)
}
