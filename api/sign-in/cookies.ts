import type { CookieOptions, Request } from 'express'
import type { Context } from '#shared/context.ts'

/** Browsers send the cookies to these addresses alone: no page of a webhook, web chat or file has them. */
export const sessionPath = '/v1/admin/session'
/** The secret of a session. */
export const sessionCookie = 'isobot_session'
/** A sign-in that is under way. */
export const signInCookie = 'isobot_sign_in'

/**
 * The properties of a cookie that only requests of the console's own pages have; `lax` for one that also comes with the
 * navigation from the provider's page.
 */
export function cookieOptions({ config }: Context, sameSite: 'strict' | 'lax', maxAge: number): CookieOptions {
  return { httpOnly: true, path: sessionPath, sameSite, maxAge, secure: config.http.baseUrl.startsWith('https:') }
}

/**
 * Whether a request comes from a page of the platform's own origin. Browsers name the page's origin with every POST, and
 * `null` for a page in a sandbox, as those of webhooks are.
 */
export function isOwnPage({ config }: Context, request: Request): boolean {
  const { origin, host } = request.headers
  if ((request.get('sec-fetch-site') ?? 'same-origin') !== 'same-origin') return false
  if (origin === undefined || !URL.canParse(origin)) return false
  return origin === new URL(config.http.baseUrl).origin || new URL(origin).host === host
}
