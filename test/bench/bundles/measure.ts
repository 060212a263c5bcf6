import { median } from '../statistics.ts'

/** The measurements of a bot on one side: medians, in milliseconds. */
export interface Measured {
  /** From the code to the end of the first event. */
  cold: number
  /** The first event after the bot has been evicted; only where bots are evicted. */
  again?: number
  /** An event after many others. */
  warm: number
}

/** Makes the bot handle a message. */
export type Handle = () => Promise<void>
/** Loads the bot anew and makes it handle its first message; resolves to a function for further messages. */
export type Start = () => Promise<Handle>

/** This many isolates of SDK bundles fit in a sandbox process; more would evict old ones. */
const starts = 12
/** Fewer, because each of them needs an eviction. */
const restarts = 5
/** The same number of events precedes them and does not count, for V8's optimising compilers, where enabled. */
const events = 300

/** Starts a bot repeatedly and keeps all of the starts alive; returns the median time, and the last bot. */
export async function measureStarts(start: Start): Promise<{ cold: number; handle: Handle; starts: number }> {
  const alive: Handle[] = []
  const times: number[] = []
  while (alive.length < starts) {
    await pause()
    times.push(await timed(async () => alive.push(await start())))
  }
  return { cold: median(times), handle: alive.at(-1)!, starts }
}

/** Evicts a bot repeatedly, and sends it a message each time; returns the median time. */
export async function measureRestarts(handle: Handle, evict: () => Promise<void>): Promise<number> {
  const times: number[] = []
  while (times.length < restarts) {
    await evict()
    await pause()
    times.push(await timed(handle))
  }
  return median(times)
}

/** Sends a bot messages, one at a time; returns the median time. */
export async function measureEvents(handle: Handle): Promise<number> {
  const times: number[] = []
  while (times.length < 2 * events) times.push(await timed(handle))
  return median(times.slice(events))
}

/** Long enough for the work after the last event, such as prewarming the next isolate. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100))
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}
