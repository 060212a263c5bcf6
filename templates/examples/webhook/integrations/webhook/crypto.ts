const encoder = new TextEncoder()

/** The HMAC of a text, in hexadecimal digits. */
export async function sign(text: string, secret: string): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign'])
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(text)))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Compares two texts by their hashes, in a time that does not depend on where they differ. */
export async function areEqual(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([hash(one), hash(other)])
  return first.reduce((difference, byte, index) => difference | (byte ^ second[index]!), 0) === 0
}

async function hash(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))
}
