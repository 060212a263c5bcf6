import { Router, type Request, type Response } from 'express'
import type { Context } from '#shared/context.ts'
import { ApiError, unavailable } from '#shared/errors.ts'
import { newId, newToken } from '#shared/ids.ts'
import { decryptJson, encryptJson, hashToken } from '#shared/secrets.ts'
import { deleteSession, findSessionByHash, insertSession } from '#shared/store/sessions.ts'
import { accountOf, NoAccountError } from './account-of.ts'
import { readCookie } from '../read-cookie.ts'
import { cookieOptions, isOwnPage, sessionCookie, sessionPath, signInCookie } from './cookies.ts'
import { openProvider, type Checks } from './provider.ts'
import { signSessionToken, tokenSeconds } from './session-token.ts'

/** Time that a person has for the provider's pages. */
const signInMilliseconds = 15 * 60_000

/** A sign-in that is under way, in a cookie that only the platform can read. */
interface Begun {
  checks: Checks
  /** SHA-256 of the secret of an invitation, in base64url. */
  invitation?: string
  until: number
}

/** Why a sign-in ended without a session. The console has a text for each. */
type Problem = 'expired' | 'failed' | 'invitation' | 'no-account'

/**
 * `/v1/admin/session`: signs people in to the console with the operator's OpenID provider. A session is a cookie that
 * browsers send to these addresses alone. With it a page of the console gets a token, which is valid for minutes, and
 * sends that with its requests, as it does personal tokens: no other address reads the cookie.
 */
export function signInPages(context: Context): Router {
  const { db, config, log, metrics } = context
  const { signIn } = config
  const router = Router()
  router.use(sessionPath, (_request, response, next) => {
    response.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' })
    next()
  })
  router.get(`${sessionPath}/providers`, (_request, response) => {
    response.json({ providers: signIn ? [{ name: signIn.name }] : [] })
  })
  router.post(`${sessionPath}/sign-out`, async (request, response) => {
    assertOwnPage(context, request)
    const secret = readCookie(request, sessionCookie)
    if (secret !== undefined) await deleteSession(db, hashToken(secret))
    response.clearCookie(sessionCookie, cookieOptions(context, 'strict', 0)).json({})
  })
  router.post(`${sessionPath}/token`, async (request, response) => {
    assertOwnPage(context, request)
    const secret = readCookie(request, sessionCookie)
    const session = secret === undefined ? undefined : await findSessionByHash(db, hashToken(secret))
    if (!session) throw new ApiError('Unauthorized', 'The session has ended: sign in again')
    const token = await signSessionToken(config.secret, session.id)
    response.json({ token, expiresInSeconds: tokenSeconds, sessionEndsAt: session.expiresAt.toISOString() })
  })
  if (!signIn) return router

  const provider = openProvider(signIn)
  const redirectUri = `${config.http.baseUrl}${sessionPath}/callback`

  router.post(`${sessionPath}/sign-in`, async (request, response) => {
    assertOwnPage(context, request)
    assertBaseUrl(context, request)
    const secret = request.get('x-invitation')
    const { url, checks } = await provider.begin(redirectUri).catch((cause: unknown) => {
      log.warn({ err: cause }, 'The OpenID provider cannot be reached')
      throw unavailable('The OpenID provider cannot be reached: try again later', { cause, retryAfterSeconds: 10 })
    })
    const begun: Begun = {
      checks,
      until: Date.now() + signInMilliseconds,
      ...(secret && { invitation: hashToken(secret).toString('base64url') }),
    }
    const value = await encryptJson(config.secret, signInCookie, begun)
    response.cookie(signInCookie, value, cookieOptions(context, 'lax', signInMilliseconds)).json({ url })
  })

  router.get(`${sessionPath}/callback`, async (request, response) => {
    response.clearCookie(signInCookie, cookieOptions(context, 'lax', 0))
    const problem = await end(request, response).catch((error: unknown) => {
      const known = problemOf(error)
      log[known === 'failed' ? 'error' : 'info']({ err: error }, 'A sign-in with the OpenID provider has failed')
      return known
    })
    const outcome = problem ?? 'signed-in'
    metrics.signIns.inc({ outcome })
    response.redirect(303, `${config.http.baseUrl}/console/sign-in#${outcome}`)
  })

  async function end(request: Request, response: Response): Promise<Problem | undefined> {
    const begun = await readBegun(context, request)
    if (!begun) return 'expired'
    const url = new URL(redirectUri)
    url.search = new URL(request.url, redirectUri).search
    const identity = await provider.finish(url, begun.checks)
    const invitation = begun.invitation === undefined ? undefined : Buffer.from(begun.invitation, 'base64url')
    const accountId = await accountOf(context, identity, invitation)
    const secret = newToken('sid')
    const expiresAt = new Date(Date.now() + signIn!.sessionMilliseconds)
    await insertSession(db, { id: newId('session'), hash: hashToken(secret), accountId, expiresAt })
    response.cookie(sessionCookie, secret, cookieOptions(context, 'strict', signIn!.sessionMilliseconds))
    log.info({ accountId }, 'A person has signed in with the OpenID provider')
    return undefined
  }

  return router
}

function problemOf(error: unknown): Problem {
  if (error instanceof NoAccountError) return 'no-account'
  if (error instanceof ApiError && error.status < 500) return 'invitation'
  return 'failed'
}

/** The sign-in that began in the browser of a request; undefined when none did, or too long ago. */
async function readBegun({ config }: Context, request: Request): Promise<Begun | undefined> {
  const value = readCookie(request, signInCookie)
  if (value === undefined) return undefined
  const begun = (await decryptJson(config.secret, signInCookie, value).catch(() => undefined)) as Begun | undefined
  return begun && begun.until > Date.now() ? begun : undefined
}

/** @throws ApiError `Forbidden` */
function assertOwnPage(context: Context, request: Request): void {
  if (isOwnPage(context, request)) return
  throw new ApiError('Forbidden', 'Only pages of the console may use a session: send requests with a token instead')
}

/** @throws ApiError `InvalidPayload` when the provider would send the browser to another origin than it is on */
function assertBaseUrl({ config }: Context, request: Request): void {
  const { host } = new URL(config.http.baseUrl)
  if (request.headers.host === host || request.get('origin') === new URL(config.http.baseUrl).origin) return
  throw new ApiError(
    'InvalidPayload',
    `Sign in at ${config.http.baseUrl}/console, the address that ISOBOT_BASE_URL says`,
  )
}
