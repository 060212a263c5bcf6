const encoder = new TextEncoder()

/** Requests that are older are refused, so that a recorded one cannot be sent again. */
const maxAgeSeconds = 5 * 60

/**
 * Whether Slack has signed a request: the signature is an HMAC of its time and the bytes of its body. `verify` computes it
 * again, and compares in a time that does not depend on where both differ.
 */
export async function isSigned(body: string, headers: Record<string, string>, secret: string): Promise<boolean> {
  const { 'x-slack-request-timestamp': time = '', 'x-slack-signature': signature = '' } = headers
  const [, digits] = /^v0=([0-9a-f]{64})$/.exec(signature) ?? []
  const isRecent = /^\d+$/.test(time) && Math.abs(Date.now() / 1000 - Number(time)) <= maxAgeSeconds
  if (digits === undefined || !isRecent) return false
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['verify'])
  const bytes = Uint8Array.from(digits.match(/../g)!, (pair) => parseInt(pair, 16))
  return crypto.subtle.verify('HMAC', key, bytes, encoder.encode(`v0:${time}:${body}`))
}
