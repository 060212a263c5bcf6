import { Router, type Request } from 'express'
import { jwtVerify, SignJWT } from 'jose'
import type { Context } from '#shared/context.ts'
import { authorizationKey, hashToken, validSecrets } from '#shared/secrets.ts'
import { findAuthorization, takeAuthorization, type Authorization } from '#shared/store/authorizations.ts'
import { takeIdentifier } from '#shared/store/registrations.ts'
import type { EventRow, Installation } from '#shared/models/tables.ts'
import { isRecord } from '#shared/models/payload.ts'
import { readCookie } from '../read-cookie.ts'
import { isOwnPage } from '../sign-in/cookies.ts'
import { deliver, findEnabled, type Hold } from './deliver.ts'
import { page } from './page.ts'
import { toWebhookReply, type WebhookReply } from './reply.ts'

/** Time that a person has for the pages of the service. */
const minutes = 30
const maxIdentifierCharacters = 200

const identifierHeader = 'x-bp-integration-identifier'
const passThroughHeader = 'x-bp-disable-interstitial'

/**
 * The platform's own pages of an authorization: `/authorize/{token}` asks a person to confirm, and marks this browser as
 * the one that began; `/oauth/interstitial` shows the end. The `state` of the public SDK is the webhook id and no secret
 * of one authorization, so only the marked browser gets any further: otherwise anybody who knows the id could connect a
 * bot with an account of their own.
 */
export function authorizationPages(context: Context): Router {
  const { db, config } = context
  const router = Router()
  router.get('/authorize/:token', async (request, response) => {
    const found = await findAuthorization(db, hashToken(request.params.token))
    send(response, found ? confirmation(found) : expired())
  })
  router.post('/authorize/:token', async (request, response) => {
    // A form of another site would begin the authorization of a foreign bot before the person has read what it is.
    if (!isOwnPage(context, request)) {
      const found = await findAuthorization(db, hashToken(request.params.token))
      return send(response, found ? confirmation(found) : expired())
    }
    const taken = await takeAuthorization(db, hashToken(request.params.token))
    if (!taken) return send(response, expired())
    const key = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(taken.webhookId)
      .setExpirationTime(`${minutes}m`)
      .sign(authorizationKey(config.secret.current))
    response.cookie(cookieOf(taken.webhookId), key, {
      httpOnly: true,
      path: '/oauth',
      maxAge: minutes * 60_000,
      // The pages of integrations have an opaque origin, so that their forms count as those of another site.
      ...(isTrustworthy(config.http.baseUrl) ? { sameSite: 'none', secure: true } : { sameSite: 'lax' }),
    })
    response.redirect(303, taken.link)
  })
  router.get('/oauth/interstitial', (request, response) => send(response, interstitial(request.query)))
  return router
}

function send(
  response: { status(code: number): { set(headers: object): { send(body: unknown): unknown } } },
  reply: WebhookReply,
): void {
  response.status(reply.status).set(reply.headers).send(reply.body)
}

/** Whether browsers accept `Secure` cookies from an address. */
function isTrustworthy(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'https:' || hostname === 'localhost' || hostname === '127.0.0.1'
}

const cookieOf = (webhookId: string) => `isobot_authorization_${webhookId}`

/**
 * Hands a request to `/oauth/…` to the installation whose webhook id is its `state`, for the browser in which the
 * authorization began. An answer with an identifier gives the installation that identifier: it has proved it.
 */
export async function answerAuthorization(context: Context, request: Request, hold: Hold): Promise<WebhookReply> {
  const { state } = request.query
  const installation = typeof state === 'string' ? await findEnabled(context, state) : undefined
  if (!installation || !(await hasBegun(context, request, installation.webhook_id))) return notBegun()
  const path = `/oauth${request.path === '/' ? '' : request.path}`
  // An identifier that the integration has proved counts, whether or not the browser still waits.
  const event = await deliver({ ...context, callerGone: undefined }, request, { installation, path }, hold)
  const reply = toWebhookReply(event)
  const given = headersOf(event)
  const identifier = given[identifierHeader]
  if (reply.status < 400 && identifier) await identify(context, installation, identifier)
  const { [identifierHeader]: _, [passThroughHeader]: isOwnPage, ...headers } = reply.headers
  if (isOwnPage === 'true') return { ...reply, headers }
  const isEnd = reply.status < 300 && (reply.body === undefined || reply.body.length === 0)
  if (isEnd) return redirect('/oauth/interstitial?success=true')
  if (event.status !== 'failed') return { ...reply, headers }
  const reason = `The integration did not answer: the log of the bot has the reason under event ${event.id}`
  return redirect(`/oauth/interstitial?${new URLSearchParams({ success: 'false', errorMessage: reason }).toString()}`)
}

/** Whether the authorization of an installation began in the browser that sends a request. */
async function hasBegun({ config }: Context, request: Request, webhookId: string): Promise<boolean> {
  const key = readCookie(request, cookieOf(webhookId))
  if (key === undefined) return false
  for (const secret of validSecrets(config.secret)) {
    const verified = await jwtVerify(key, authorizationKey(secret), { algorithms: ['HS256'] }).catch(() => undefined)
    if (verified) return verified.payload.sub === webhookId
  }
  return false
}

/** The headers that code answered with, by name in lower case. */
function headersOf({ result }: EventRow): Record<string, string> {
  const headers = isRecord(result) && isRecord(result['headers']) ? result['headers'] : {}
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
}

async function identify(context: Context, { bot_id: botId, id }: Installation, identifier: string): Promise<void> {
  if (identifier.length > maxIdentifierCharacters) return
  const changed = await takeIdentifier(context.db, { botId, id }, identifier)
  for (const webhookId of changed) await context.installations.changed(webhookId)
}

function redirect(location: string): WebhookReply {
  return { status: 303, headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } }
}

function confirmation({ alias, integration, botName, link }: Authorization): WebhookReply {
  const name = alias === integration ? integration : `${integration} (${alias})`
  return page(200, `Connect ${integration}`, {
    paragraphs: [
      `The bot “${botName || 'without a name'}” asks for access to an account of yours through its integration ${name}.`,
      `You continue at ${new URL(link).host}. Continue only if you began this yourself.`,
    ],
    button: 'Continue',
  })
}

function expired(): WebhookReply {
  return page(404, 'This link is not found', {
    paragraphs: ['It has been used, or ten minutes have passed. Begin again in the console.'],
  })
}

function notBegun(): WebhookReply {
  return page(403, 'This authorization did not begin in this browser', {
    paragraphs: [
      'Begin it in the console: open the bot, choose its integration, and press “Authorize”. It has to end in the same browser within 30 minutes.',
    ],
  })
}

const maxMessageCharacters = 500

function interstitial({ success, errorMessage }: Request['query']): WebhookReply {
  if (success === 'true') {
    return page(200, 'The integration is connected', { paragraphs: ['You can close this window.'] })
  }
  const quote = typeof errorMessage === 'string' ? errorMessage.slice(0, maxMessageCharacters) : undefined
  return page(200, 'The integration is not connected', {
    paragraphs: ['Begin again in the console, or ask its developer.'],
    ...(quote && { quote }),
  })
}
