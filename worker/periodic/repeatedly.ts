/**
 * Does something again and again, and never twice at once.
 *
 * @param act must not reject: nobody would hear of it
 * @returns stops it, and waits for the one that is under way
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
