/**
 * Does something again and again, and never twice at once.
 *
 * @param act must not reject: nobody would hear of it
 * @returns stops it, and waits for the one that is under way
 */
export function repeatedly(milliseconds: number, act: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined
  const timer = setInterval(() => {
    underWay ??= act().finally(() => (underWay = undefined))
  }, milliseconds)
  return async () => {
    clearInterval(timer)
    await underWay
  }
}
