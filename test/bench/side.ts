import { setTimeout as delay } from 'node:timers/promises'
import { startLoad, type Load, type Measured, type Pace } from './load-process.ts'
import { readProcessorTimes, type ProcessorTimes } from './processor-time.ts'
import type { Servers } from './servers.ts'
import type { System, SystemOptions } from './system.ts'

/** The processes that a message involves, in the order of the table. */
export const partNames = ['api', 'worker', 'sandbox', 'PostgreSQL', 'Redis', 'chat users'] as const
export type PartName = (typeof partNames)[number]

export interface Result extends Measured {
  /** Processor time per message, in milliseconds; absent on systems that do not report it. */
  processorTime?: Record<PartName, number>
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
      const measured = await load.measure(pace).catch((cause: unknown) => {
        throw new Error(`${name} could not be measured: ${String(cause)}`, { cause })
      })
      await delay(settleMilliseconds)
      const after = await readProcessorTimes()
      system.pause?.(true)
      if (!before || !after) return measured
      const times = Object.entries(timesOf(system, load, servers)).map(([name, time]) => [
        name,
        (time(after) - time(before)) / measured.messages,
      ])
      return { ...measured, processorTime: Object.fromEntries(times) as Record<PartName, number> }
    },
  }
}

function timesOf(
  { processes }: System,
  load: Load,
  { postgres, redis }: Servers,
): Record<PartName, (times: ProcessorTimes) => number> {
  return {
    api: (times) => times.own(processes.api),
    // A side may be one process.
    worker: (times) => (processes.worker === processes.api ? 0 : times.own(processes.worker)),
    sandbox: (times) => times.below(processes.worker),
    PostgreSQL: (times) => times.own(postgres.pid) + times.below(postgres.pid),
    Redis: (times) => times.own(redis.pid),
    'chat users': (times) => times.own(load.pid),
  }
}
