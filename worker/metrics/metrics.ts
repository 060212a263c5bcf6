import type { SandboxWatch } from '#sandbox/protocol/contract.ts'
import type { Sandbox } from '#sandbox/sandbox.ts'
import type { Context } from '#shared/context.ts'
import type { Metrics } from '#shared/telemetry/metrics.ts'
import type { FairSlots } from '../slots/fair-slots.ts'

/** Counts isolate starts and kills in the sandbox. */
export function watchOf({ isolateStarts, sandboxKills }: Metrics): SandboxWatch {
  return {
    started: (kind, count) => isolateStarts.inc({ kind }, count),
    killed: (cause) => sandboxKills.inc({ cause }),
  }
}

/** Exposes the slots and the sandbox memory that a worker uses. */
export function exposeWorkerMetrics(
  { metrics, config }: Context,
  sandbox: Sandbox,
  { slots, turns }: { slots: FairSlots; turns: { readonly waiting: number } },
): void {
  metrics.gauge({
    name: 'worker_slots',
    help: 'Conversations that the worker handles concurrently, those of them that wait for another event of their agent, and their maximum',
    labels: ['state'],
    read: () => [
      [{ state: 'used' }, slots.inUse],
      [{ state: 'awaiting_turn' }, turns.waiting],
      [{ state: 'total' }, config.worker.concurrency],
    ],
  })
  metrics.gauge({
    name: 'sandbox_resident_bytes',
    help: 'Memory of sandbox processes by slot, as of their last heartbeat',
    labels: ['place'],
    read: () => sandbox.memory().map(({ slot: place, residentBytes }) => [{ place }, residentBytes]),
  })
}
