import { setTimeout as delay } from 'node:timers/promises'
import { startLoad, type Load, type Measured, type Pace } from './load-process.ts'
import { readProcessorTimes, type ByProcess } from './processor-time.ts'
import type { Servers } from './servers.ts'
import type { System, SystemOptions } from './system.ts'
import { countWakeUps } from './wake-ups.ts'

/** The processes that a message involves, in the order of the table. */
export const partNames = ['api', 'worker', 'sandbox', 'PostgreSQL', 'Redis', 'chat users'] as const
export type PartName = (typeof partNames)[number]

export interface Result extends Measured {
  /** Processor time per message, in milliseconds; absent on systems that do not report it. */
  processorTime?: Record<PartName, number>
  /** How often threads waited and were woken, per message; absent on systems that do not report it. */
  wakeUps?: Record<PartName, number>
}

/** A started side, with its chat users. */
export interface Side {
  measure(pace: Pace): Promise<Result>
}

/** Work that continues after the last reply (ends of events, finished jobs) is over after this time. */
const settleMilliseconds = 300

/** Starts a side and its chat users. The name is for errors. */
export async function startSide(
  name: string,
  start: (options: SystemOptions) => Promise<System>,
  options: SystemOptions,
): Promise<Side> {
  const system = await start(options)
  const load = await startLoad(system, options.parts)
  const { servers } = options
  system.pause?.(true)
  return {
    async measure(pace) {
      if (system.databaseUrl) await servers.postgres.settle(system.databaseUrl)
      system.pause?.(false)
      const before = await readProcessorTimes()
      const readWakeUps = await countWakeUps()
      const measured = await load.measure(pace).catch((cause: unknown) => {
        throw new Error(`${name} could not be measured: ${String(cause)}`, { cause })
      })
      await delay(settleMilliseconds)
      const after = await readProcessorTimes()
      const wakeUps = await readWakeUps?.()
      system.pause?.(true)
      const counts = Object.entries(countsOf(system, load, servers))
      const perMessage = (count: (of: PartCount) => number) => {
        const figures = counts.map(([name, of]) => [name, count(of) / measured.messages])
        return Object.fromEntries(figures) as Record<PartName, number>
      }
      return {
        ...measured,
        ...(before && after && { processorTime: perMessage((of) => of(after) - of(before)) }),
        ...(wakeUps && { wakeUps: perMessage((of) => of(wakeUps)) }),
      }
    },
  }
}

type PartCount = (counts: ByProcess) => number

function countsOf({ processes }: System, load: Load, { postgres, redis }: Servers): Record<PartName, PartCount> {
  return {
    api: (counts) => counts.own(processes.api),
    // A side may be one process.
    worker: (counts) => (processes.worker === processes.api ? 0 : counts.own(processes.worker)),
    sandbox: (counts) => counts.below(processes.worker),
    PostgreSQL: (counts) => counts.own(postgres.pid) + counts.below(postgres.pid),
    Redis: (counts) => counts.own(redis.pid),
    'chat users': (counts) => counts.own(load.pid),
  }
}
