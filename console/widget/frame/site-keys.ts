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
  return {
    async renew() {
      if (!isRenewable) return false
      post({ type: 'keyNeeded' })
      const userKey = await new Promise<string | undefined>((resolve) => (awaited = resolve))
      if (userKey === undefined) return false
      take(userKey)
      return true
    },
    receive(userKey) {
      awaited?.(userKey)
      awaited = undefined
    },
  }
}
