import { createHash } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import ipaddr from 'ipaddr.js'
import type { Config } from '#shared/config/config.ts'
import type { Context } from '#shared/context.ts'
import { ApiError } from '#shared/errors.ts'
import { verifyUserKey } from '#shared/integrations/user-keys.ts'
import { openCounter, windowMilliseconds, type Counter } from './rate-limit-counter.ts'

/** Headers that pages of other origins can read only when CORS exposes them. */
export const rateLimitHeaders = [
  'RateLimit-Policy',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
]

/** The result of counting a request. */
export interface RateLimitDecision {
  /** Headers of the answer, of any status; empty when the request was not counted. */
  headers: Record<string, string>
  /** The answer, when the request exceeds a limit. */
  refusal?: ApiError
}

/**
 * Limits the requests of each chat user and of each installation, over all api processes where Redis is configured. The
 * verified key identifies the user: one key can be spelled in several ways, and one user can have several keys. All
 * requests of an installation with invalid keys count as one user's; those of a web chat count by the address of the
 * visitor. Requests of the Converse API count likewise, by the user in the path. Requests of the other interfaces count by
 * their token, valid or not, where the operator limits these.
 */
export interface RateLimiter {
  /**
   * Counts a request. Never throws: while Redis is unavailable every request passes.
   *
   * @param webhookId the id in the installation's address, decoded; there may be no such installation
   * @param userKey the user's key as received, valid or not
   * @param address of a web chat's visitor, whose requests without a valid key count by it
   */
  consume(webhookId: string, userKey?: string, address?: string): Promise<RateLimitDecision>
  /** Counts HTTP requests and refuses those beyond a limit. Mounted at the root: it reads the path. */
  handle: RequestHandler
  close(): void
}

export function openRateLimiter(context: Context): RateLimiter {
  const { config, dependencies, log } = context
  const limits = config.chatRateLimits
  const tokenLimit = config.tokenRateLimit
  const isLimited = tokenLimit > 0 || limits.user > 0 || limits.installation > 0 || limits.visitor > 0
  const counter = isLimited ? openCounter(dependencies.redis, log) : undefined

  async function consume(webhookId: string, userKey?: string, address?: string): Promise<RateLimitDecision> {
    const isNeeded = limits.user > 0 || (limits.visitor > 0 && address !== undefined)
    const user = isNeeded && userKey ? await userOf(context, webhookId, userKey) : undefined
    if (address !== undefined && (!userKey || user === invalidKey)) {
      return count(bucketsOf(limits, [webhookId], undefined, networkOf(address)))
    }
    return count(bucketsOf(limits, [webhookId], limits.user ? user : undefined))
  }

  async function count(buckets: Bucket[]): Promise<RateLimitDecision> {
    return counter && buckets.length > 0 ? take(counter, buckets) : { headers: {} }
  }

  async function decide(request: Request): Promise<RateLimitDecision> {
    const address = readAddress(request.path)
    if (address === undefined) return count(tokenBuckets(tokenLimit, request))
    if ('webhookId' in address) {
      const given = request.get('x-user-key') ?? request.query['x-user-key']
      const key = typeof given === 'string' ? given : undefined
      return consume(address.webhookId, key, address.isForPages ? request.ip : undefined)
    }
    const user = limits.user ? ['user', address.userId] : undefined
    return count(bucketsOf(limits, ['converse', address.botId], user))
  }

  return {
    consume,
    async handle(request, response, next) {
      const { headers, refusal } = await decide(request)
      response.set(headers)
      if (refusal) response.status(refusal.status).json(refusal.toJSON())
      else next()
    },
    close: () => counter?.close(),
  }
}

/**
 * The ids in the path of a chat or of the Converse API, decoded as the router does: all spellings of an address name one
 * installation.
 */
function readAddress(
  path: string,
): { webhookId: string; isForPages: boolean } | { botId: string; userId: string } | undefined {
  const [first, second, ...rest] = path.split('/').filter(Boolean).map(decode)
  const isForPages = first === 'webchat'
  if ((first === 'chat' || isForPages) && second !== undefined) return { webhookId: second, isForPages }
  const [bots, botId, converse, userId] = rest
  const isConverse = first === 'api' && second === 'v1' && bots === 'bots' && converse === 'converse'
  return isConverse && botId !== undefined && userId !== undefined ? { botId, userId } : undefined
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

interface Bucket {
  name: string
  limit: number
  /** The senders of its requests, as the error message names them. */
  whose: string
}

const invalidKey = ['without a valid key']

/**
 * Names the bucket of a key by its verified user, not its spelling; all invalid keys of a chat share one. Undefined
 * while the database is unavailable.
 */
async function userOf(context: Context, webhookId: string, key: string): Promise<string[] | undefined> {
  // A key that is not a JSON Web Token needs no look-up.
  if (key.split('.').length !== 3) return invalidKey
  try {
    return await context.dependencies.database.failFast(async () => {
      const installation = await context.installations.find(webhookId)
      if (!installation) return invalidKey
      const { externalUserId, boundUserId } = await verifyUserKey(installation, context.config.secret, key)
      return ['user', boundUserId ?? externalUserId]
    })
  } catch (error) {
    return error instanceof ApiError && error.status < 500 ? invalidKey : undefined
  }
}

/** The user's bucket and then the installation's, where they have a limit. */
function bucketsOf(
  limits: Config['chatRateLimits'],
  chat: string[],
  user: string[] | undefined,
  network?: string,
): Bucket[] {
  const buckets: Bucket[] = []
  if (network !== undefined && limits.visitor) {
    const name = nameOf(...chat, 'network', network)
    buckets.push({ name, limit: limits.visitor, whose: 'visitors without a key from one address' })
  }
  if (user) buckets.push({ name: nameOf(...chat, ...user), limit: limits.user, whose: 'one user' })
  if (limits.installation) {
    buckets.push({ name: nameOf(...chat), limit: limits.installation, whose: 'all users of this chat together' })
  }
  return buckets
}

/** The bucket of a token, where tokens have a limit and the request has one. */
function tokenBuckets(limit: number, request: Request): Bucket[] {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.get('authorization') ?? '') ?? []
  const isOfInterface = /^\/(?:v1|mcp)\//.test(request.path)
  return limit > 0 && token !== undefined && isOfInterface
    ? [{ name: nameOf('token', token), limit, whose: 'one token' }]
    : []
}

/** An address of IPv4, or the /64 network of one of IPv6, of which one visitor may have all addresses. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString()
}

/** A hash: a short name for input of any length, which does not reveal the key. */
function nameOf(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

/** Adds a request to each bucket. The headers describe the last bucket beyond its limit, else the first bucket. */
async function take(counter: Counter, buckets: Bucket[]): Promise<RateLimitDecision> {
  const counts = await counter.increment(buckets.map(({ name }) => name))
  if (!counts) return { headers: {} }
  const filled = buckets.map((bucket, index) => ({
    ...bucket,
    consumed: counts[index]!.consumedPoints,
    msBeforeNext: counts[index]!.msBeforeNext,
  }))
  const exceeded = filled.findLast(({ consumed, limit }) => consumed > limit)
  const { limit, consumed, msBeforeNext } = exceeded ?? filled[0]!
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  const headers = {
    'RateLimit-Policy': `${limit};w=${windowMilliseconds / 1000}`,
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(Math.max(0, limit - consumed)),
    'RateLimit-Reset': String(seconds),
  }
  if (!exceeded) return { headers }
  // Refused requests of one user must not use up the installation's limit, which all its users share.
  for (const { name } of filled.slice(filled.indexOf(exceeded) + 1)) await counter.decrement(name)
  const message = `Too many requests: ${exceeded.whose} may send ${limit} per minute. Try again in ${seconds} s`
  return { headers: { ...headers, 'Retry-After': String(seconds) }, refusal: new ApiError('RateLimited', message) }
}
