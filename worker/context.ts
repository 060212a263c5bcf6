import type { Sandbox } from '#sandbox/sandbox.ts'
import type { Context } from '#shared/context.ts'
import type { Turns } from './code/turns.ts'
import type { Bundles } from './code/bundles.ts'
import type { Mailboxes } from './mailboxes.ts'
import type { SourceMaps } from './code/source-maps.ts'
import type { Activity } from './metrics/activity.ts'
import type { OpenFetch } from './outbound/fetch.ts'
import type { Outbound } from './outbound/open-outbound.ts'

/** The parts that the tasks of a worker process use, opened once for the process. */
export interface WorkerContext extends Context {
  sandbox: Sandbox
  bundles: Bundles
  sourceMaps: SourceMaps
  mailboxes: Mailboxes
  activity: Activity
  /** The turns of the events of agents, by bundle. */
  agentTurns: Turns
  outbound: Outbound
  openFetch: OpenFetch
  /** Aborted when the worker's shutdown interrupts the runs in flight. */
  stopping: AbortSignal
}
