const encoder = new TextEncoder()

/**
 * Whether GitHub has signed a body: `X-Hub-Signature-256` is the HMAC of the bytes that were sent. `verify` computes it
 * again, and compares in a time that does not depend on where both differ.
 *
 * @param signature `sha256=` and 64 hexadecimal digits
 */
export async function isSigned(body: string, signature: string, secret: string): Promise<boolean> {
  const [, digits] = /^sha256=([0-9a-f]{64})$/.exec(signature) ?? []
  if (digits === undefined) return false
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['verify'])
  const bytes = Uint8Array.from(digits.match(/../g)!, (pair) => parseInt(pair, 16))
  return crypto.subtle.verify('HMAC', key, bytes, encoder.encode(body))
}
