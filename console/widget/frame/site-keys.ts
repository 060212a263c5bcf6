import type { ToPage } from '../protocol.ts'

/** Keys by which the site names its visitor, and which expire. */
export interface SiteKeys {
  /** Asks the page for another key, and takes it. @returns whether there is one */
  renew(): Promise<boolean>
  /** Receives the page's answer; undefined if it has no other key. */
  receive(userKey: string | undefined): void
}

/**
 * @param isRenewable whether the page answers a request for another key
 * @param take makes the key that of the visitor
 */
export function openSiteKeys(
  isRenewable: boolean,
  post: (message: ToPage) => void,
  take: (userKey: string) => void,
): SiteKeys {
  let awaited: ((userKey: string | undefined) => void) | undefined
  let renewal: Promise<boolean> | undefined

  async function renew(): Promise<boolean> {
    post({ type: 'keyNeeded' })
    const userKey = await new Promise<string | undefined>((resolve) => (awaited = resolve))
    renewal = undefined
    if (userKey === undefined) return false
    take(userKey)
    return true
  }

  return {
    // The page has one answer for requests that are refused at the same time.
    renew: async () => isRenewable && (renewal ??= renew()),
    receive(userKey) {
      awaited?.(userKey)
      awaited = undefined
    },
  }
}
