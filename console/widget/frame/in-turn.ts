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
