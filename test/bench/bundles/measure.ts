import { median } from '../statistics.ts'

/** What was measured of a bot on one side: medians, in milliseconds. */
export interface Measured {
  /** From nothing but its code to the end of its first event. */
  cold: number
  /** An event, after many. */
  warm: number
}

/** Has the bot handle a message. */
export type Handle = () => Promise<void>
/** Loads the bot afresh and has it handle its first message; whoever loaded it can send it more. */
export type Start = () => Promise<Handle>

/** So many isolates of SDK bundles fit in a sandbox process: with more, old ones would make room for new ones. */
const starts = 15
/** As many again come before them and do not count: where V8 may, it optimises what runs often. */
const events = 300

/** Starts a bot over and over, all of them alive to the end; gives the median of the times, and the last bot. */
export async function measureStarts(start: Start): Promise<{ cold: number; handle: Handle; starts: number }> {
  const alive: Handle[] = []
  const times: number[] = []
  while (alive.length < starts) times.push(await timed(async () => alive.push(await start())))
  return { cold: median(times), handle: alive.at(-1)!, starts }
}

/** Sends a bot one message after the other; gives the median of the times. */
export async function measureEvents(handle: Handle): Promise<number> {
  const times: number[] = []
  while (times.length < 2 * events) times.push(await timed(handle))
  return median(times.slice(events))
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}
