/** Facts about a visitor's use of the chat that the page stores; the key and the conversation are not among them. */
type Fact = 'opened' | 'dismissed'

const nameOf = (clientId: string, fact: Fact) => `isobot-webchat-${clientId}-${fact}`

/** Browsers may refuse storage: the fact is forgotten then. */
export function remember(storage: 'localStorage' | 'sessionStorage', clientId: string, fact: Fact): void {
  try {
    window[storage].setItem(nameOf(clientId, fact), '1')
  } catch {
    // Nothing is lost but a convenience.
  }
}

export function recall(storage: 'localStorage' | 'sessionStorage', clientId: string, fact: Fact): boolean {
  try {
    return window[storage].getItem(nameOf(clientId, fact)) !== null
  } catch {
    return false
  }
}
