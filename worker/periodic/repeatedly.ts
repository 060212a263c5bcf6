/**
 * Calls a function at an interval, and skips a call while the last one is in flight.
 *
 * @param act must not reject: the rejection would be unhandled
 * @returns stops the calls, and waits for one in flight
 */
export function repeatedly(milliseconds: number, act: () => Promise<void>): () => Promise<void> {
  let inFlight: Promise<void> | undefined
  const timer = setInterval(() => {
    inFlight ??= act().finally(() => (inFlight = undefined))
  }, milliseconds)
  return async () => {
    clearInterval(timer)
    await inFlight
  }
}
