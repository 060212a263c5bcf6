const encoder = new TextEncoder()

/**
 * The text with which Telegram marks its requests to the webhook. It is made of the token, so that nothing else has to be
 * kept, and does not tell it.
 */
export async function secretToken(token: string, webhookId: string): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(token), algorithm, false, ['sign'])
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(webhookId)))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Compares two texts in a time that does not depend on where they differ, but on the length of the given one. */
export function areEqual(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length
  for (let index = 0; index < given.length; index++) {
    difference |= given.charCodeAt(index) ^ expected.charCodeAt(index % expected.length)
  }
  return difference === 0
}
