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
  /** Where it runs, from its start on. */
  realm: Realm | undefined
  readonly runTree: RunTree
  readonly timers: Map<string, NodeJS.Timeout>
  /** The name of the active hook or other function of the bundle, as its kernel reported last. */
  hook: string
  readonly hookTimes: HookTimes
}

/** A run and the runs called from within it: they share its limits, and what ends it ends them all. */
export interface RunTree {
  /** The id of the run that the others were called from. */
  readonly root: string
  readonly limits: Limits
  readonly cpu: CpuBudget
  readonly members: Set<ProcessRun>
  readonly logged: Logged
  /** Ends the run tree when its wall time is up. */
  readonly deadline: NodeJS.Timeout
}

/** Small work of our own in an isolate, for nobody in particular. */
export function housekeeping(): TurnOwner {
  return { id: '', cpu: { limit: 500, used: 0 }, endedAt: undefined, exceeded() {}, threw() {} }
}
