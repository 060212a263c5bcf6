import { setTimeout as pause } from 'node:timers/promises'
import { SlidingWindowCounter } from './sliding-window-counter.ts'
import { outsideOfTenants } from './tenant-scope.ts'

/**
 * Combines single calls into batches. A call is sent at once while none is in flight; calls that arrive meanwhile are
 * sent together when it has returned, so a higher load makes fewer statements. Without an interval, no call waits to fill a
 * batch.
 *
 * @param runMany processes several inputs, and returns their outputs in the same order
 * @param maxSize upper bound of a batch
 * @param intervalMilliseconds lower bound between the starts of two batches: a call soon after another one waits for more
 */
export function batched<Input, Output>(
  runMany: (inputs: Input[]) => Promise<Output[]>,
  maxSize: number,
  intervalMilliseconds = 0,
): (input: Input) => Promise<Output> {
  let waiting: { input: Input; resolve: (output: Output) => void; reject: (error: unknown) => void }[] = []
  let isInFlight = false
  let sentAt = -Infinity

  async function send(): Promise<void> {
    isInFlight = true
    while (waiting.length > 0) {
      if (intervalMilliseconds > 0) {
        const remaining = sentAt + intervalMilliseconds - performance.now()
        if (remaining > 0 && waiting.length < maxSize) await pause(remaining)
        sentAt = performance.now()
      }
      const sent = waiting.slice(0, maxSize)
      waiting = waiting.slice(maxSize)
      try {
        const outputs = await runMany(sent.map(({ input }) => input))
        for (const [index, { resolve }] of sent.entries()) resolve(outputs[index] as Output)
      } catch (error) {
        // Inputs that failed together are retried one by one, so that one invalid input does not fail the others.
        if (sent.length === 1) sent[0]!.reject(error)
        else
          await Promise.all(
            sent.map(({ input, resolve, reject }) =>
              runMany([input]).then(([output]) => resolve(output as Output), reject),
            ),
          )
      }
    }
    isInFlight = false
  }

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject })
      // A batch has the calls of several tenants.
      if (!isInFlight) void outsideOfTenants(send)
    })
}

const windowMilliseconds = 1000
/** A bot with more calls than this in a second has its batches with other busy bots. */
const quietCalls = 20

/**
 * As `batched`, with two batches at a time: one for bots with many recent calls, and one for all others, so that the call
 * of a quiet bot does not wait for a batch of a busy one. Concurrent calls of one bot are never in both.
 *
 * @param botOf the bot that makes the call
 */
export function batchedByLoad<Input, Output>(
  runMany: (inputs: Input[]) => Promise<Output[]>,
  maxSize: number,
  botOf: (input: Input) => string,
): (input: Input) => Promise<Output> {
  const lanes = { quiet: batched(runMany, maxSize), busy: batched(runMany, maxSize) }
  const calls = new SlidingWindowCounter(windowMilliseconds)
  /** The bots with calls in flight: their calls stay in order. */
  const inFlight = new Map<string, { lane: keyof typeof lanes; count: number }>()

  return async (input) => {
    const bot = botOf(input)
    calls.add(bot)
    const now = inFlight.get(bot) ?? { lane: calls.of(bot) > quietCalls ? 'busy' : 'quiet', count: 0 }
    now.count += 1
    inFlight.set(bot, now)
    try {
      return await lanes[now.lane](input)
    } finally {
      now.count -= 1
      if (now.count === 0) inFlight.delete(bot)
    }
  }
}
