/**
 * Lets one tab work at a time. Browsers have no locks on insecure pages, and refuse them where they refuse storage; tabs
 * share nothing there but the time.
 *
 * @param lock a name within the web chat
 */
export async function inTurn<Result>(lock: string, work: () => Promise<Result>): Promise<Result> {
  let isTaken = false
  try {
    return await navigator.locks.request(lock, () => {
      isTaken = true
      return work()
    })
  } catch (error) {
    if (isTaken) throw error
    return work()
  }
}

/** Resolves when other tabs find the lock held, until this tab ends: they see it at once, unlike writes to the storage. */
export function hold(lock: string): Promise<void> {
  return new Promise((resolve) => {
    // Async, so that a browser without locks rejects too.
    const held = async (): Promise<void> =>
      navigator.locks.request(lock, { mode: 'shared' }, () => {
        resolve()
        return new Promise<never>(() => {})
      })
    held().catch(() => resolve())
  })
}

export async function isHeld(lock: string): Promise<boolean> {
  try {
    const { held = [] } = await navigator.locks.query()
    return held.some(({ name }) => name === lock)
  } catch {
    return false
  }
}
