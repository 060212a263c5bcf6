import { jwtVerify, SignJWT } from 'jose'
import type { PlatformSecret } from '#shared/secrets.ts'
import { sessionKey, validSecrets } from '#shared/secrets.ts'

/**
 * The token that a page of the console gets for its session's cookie, and sends with its requests. It is valid for some
 * minutes, so that a page asks again and again, and for no longer than the session.
 */
const prefix = 'ses_'
const algorithm = 'HS256'
export const tokenSeconds = 15 * 60

/** @param sessionId the session, which is looked up at each use */
export async function signSessionToken(secret: PlatformSecret, sessionId: string): Promise<string> {
  const token = await new SignJWT()
    .setProtectedHeader({ alg: algorithm })
    .setSubject(sessionId)
    .setExpirationTime(`${tokenSeconds}s`)
    .sign(sessionKey(secret.current))
  return `${prefix}${token}`
}

/** Whether a token is one of a session, valid or not. */
export function isSessionToken(token: string): boolean {
  return token.startsWith(prefix)
}

/** The session that a token names; undefined when the token is not valid. */
export async function verifySessionToken(secret: PlatformSecret, token: string): Promise<string | undefined> {
  for (const each of validSecrets(secret)) {
    const options = { algorithms: [algorithm], requiredClaims: ['exp', 'sub'] }
    const verified = await jwtVerify(token.slice(prefix.length), sessionKey(each), options).catch(() => undefined)
    if (verified) return verified.payload.sub
  }
  return undefined
}
