import type { Limits } from '../protocol/contract.ts'
import type { Logged } from '../protocol/log-budget.ts'
import type { BotIsolate } from './bot-isolate.ts'
import type { CpuBudget, TurnOwner } from './turn.ts'
import type { HookTimes } from './hook-times.ts'
import type { Realm } from './realm.ts'

/** A run in flight in this process; an inspection is one too. */
export interface ProcessRun extends TurnOwner {
  readonly kind: 'run' | 'inspection'
  readonly isolate: BotIsolate
  /** The realm in which it runs, from its start on. */
  realm: Realm | undefined
  readonly runTree: RunTree
  /** For the earliest of the timers that its code has set. */
  timer: NodeJS.Timeout | undefined
  /** The name of the active hook or other function of the bundle, as last reported by its kernel. */
  hook: string
  readonly hookTimes: HookTimes
}

/** A run and the runs that it calls: they share its limits and end together. */
export interface RunTree {
  /** The id of the run at the root of the tree. */
  readonly root: string
  readonly limits: Limits
  readonly cpu: CpuBudget
  readonly members: Set<ProcessRun>
  readonly logged: Logged
  /** Ends the run tree when its wall time is used up. */
  readonly deadline: NodeJS.Timeout
}

/** A turn owner for the platform's own work in an isolate. A crash meanwhile is attributed to the run with this id. */
export function housekeeping(id = ''): TurnOwner {
  return { id, cpu: { limit: 500, used: 0 }, endedAt: undefined, exceeded() {}, threw() {} }
}
