import type { AnswerOf, OperationName } from '../../../shared/openapi/answer-of.ts'
import { interrupt, interruptedBecause, session } from '../state/session.ts'

/** The error of a failed request, from the server or from the network. */
export class Failure extends Error {
  /** HTTP status; 0 when the server was not reached. */
  status: number
  type: string
  /** The id under which the server's log has the error of a 500. */
  id: string | undefined
  metadata: Record<string, unknown>

  constructor(status: number, { type = 'Unknown', message = '', id, metadata = {} }: Partial<ErrorBody>) {
    super(message || 'The server gave no reason')
    this.name = 'Failure'
    this.status = status
    this.type = type
    this.id = id
    this.metadata = metadata
  }
}

interface ErrorBody {
  id: string
  type: string
  message: string
  metadata: Record<string, unknown>
}

interface Asking {
  token?: string
  workspaceId?: string
  /** The secret of an invitation. */
  invitation?: string
}

/** A server that answers takes less. Reads show an error then; the outcome of a write is not known. */
const readSeconds = 30
export const writeSeconds = 120
/** The slowest network on which the body of a write has the time that it needs. */
const slowBytesPerSecond = 10_000

export type Query = Record<string, string | number | boolean | undefined>

export interface Request {
  query?: Query
  body?: object
  /** Of requests with the same key, one is carried out, and the others receive its answer. */
  idempotencyKey?: string
  abort?: AbortSignal
  /** Lets the request outlive the page. */
  keepalive?: boolean
  /** Whether it changes nothing, although its method is not GET. */
  isReading?: boolean
  /** Whether it is sent although an equal write is in flight. */
  isDistinct?: boolean
  /** Credentials for this request in place of the session's. */
  as?: Asking
  /** The bot in whose name an operation of the Files or Tables API is called; the path is then after `/v1`. */
  botId?: string
}

/**
 * Calls an operation of the Admin API; its name determines the type of the answer: `ask<'getQueue'>('GET', '/queue')`.
 *
 * @param path after `/v1/admin`, or after `/v1` for a bot
 * @throws Failure; when the server refuses the token, the session is interrupted first
 */
export async function ask<Name extends OperationName>(
  method: string,
  path: string,
  request: Request = {},
): Promise<AnswerOf<Name>> {
  const { isReading = method === 'GET', isDistinct = isReading, abort, body } = request
  const text = body && JSON.stringify(body)
  const seconds = isReading ? readSeconds : writeSeconds + Math.floor((text?.length ?? 0) / slowBytesPerSecond)
  const carryOut = () =>
    within(seconds, { abort, next: nextAfter(method, request) }, async (signal) => {
      const response = await reach(method, path, { ...request, abort: signal })
      if (response.ok) return (await response.json()) as AnswerOf<Name>
      throw await refused(response)
    })
  if (isDistinct) return carryOut()
  const key = [session.value?.workspaceId, request.botId, request.idempotencyKey, method, path, text].join(' ')
  const answer =
    (writes.get(key) as Promise<AnswerOf<Name>> | undefined) ?? carryOut().finally(() => writes.delete(key))
  writes.set(key, answer)
  return answer
}

/** The writes in flight: an impatient second click gets the answer of the first. */
const writes = new Map<string, Promise<unknown>>()

/** The failure that an answer is. */
export async function refused(response: Response): Promise<Failure> {
  return new Failure(response.status, await errorOf(response))
}

/**
 * Sends a request with the credentials. When the server refuses the token, the session is interrupted.
 *
 * @throws Failure when the server is not reached, or the session is interrupted
 */
export async function reach(method: string, path: string, request: Request): Promise<Response> {
  const { query = {}, body, abort, keepalive = false, botId } = request
  const own = session.value
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  const init = {
    method,
    headers: await headersOf(request, own),
    ...(body && { body: JSON.stringify(body) }),
    ...(abort && { signal: abort }),
    keepalive,
  }
  const address = `${botId ? '/v1' : '/v1/admin'}${path}${search && `?${search}`}`
  const response = await send(address, init, nextAfter(method, request))
  // Another session may have begun meanwhile.
  if (response.status === 401 && !request.as && own && own === session.value) {
    ofCookie = undefined
    interrupt(own.token === undefined ? sessionEnded : tokenEnded)
  }
  return response
}

async function headersOf(request: Request, own: Asking | undefined): Promise<Record<string, string>> {
  const { body, botId, idempotencyKey, as = own } = request
  const token = request.as ? request.as.token : await ownToken()
  return {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(as?.invitation && { 'x-invitation': as.invitation }),
    ...(as?.workspaceId && { 'x-workspace-id': as.workspaceId }),
    ...(botId && { 'x-bot-id': botId }),
    ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
    ...(body && { 'content-type': 'application/json' }),
  }
}

const sessionEnded = 'Your session has ended: sign in again.'
const tokenEnded = 'The token is no longer valid: sign in with another token.'

/** The token for the browser's cookie, and when to get the next one. */
let ofCookie: { token: Promise<string>; until: number } | undefined

/**
 * The token of the signed-in account: its personal token, or one that is valid for some minutes.
 * @returns undefined when nobody is signed in
 * @throws Failure; when the session of the cookie has ended, it is interrupted first
 */
export async function ownToken(): Promise<string | undefined> {
  if (interruptedBecause.value) throw new Failure(401, { type: 'Unauthorized', message: interruptedBecause.value })
  const own = session.value
  if (!own || own.token !== undefined) return own?.token
  try {
    return await tokenOfCookie()
  } catch (error) {
    if (error instanceof Failure && error.status === 401 && own === session.value) interrupt(sessionEnded)
    throw error
  }
}

/** A token for the browser's cookie. @throws Failure */
export async function tokenOfCookie(): Promise<string> {
  if (ofCookie && Date.now() < ofCookie.until) return ofCookie.token
  const answer = askSession<{ token: string; expiresInSeconds: number }>('POST', '/token')
  const own = { token: answer.then(({ token }) => token), until: Infinity }
  ofCookie = own
  try {
    const { expiresInSeconds } = await answer
    own.until = Date.now() + expiresInSeconds * 500
    return await own.token
  } catch (error) {
    if (ofCookie === own) ofCookie = undefined
    throw error
  }
}

/** Ends the session of the browser's cookie, for all its pages. */
export async function endSession(): Promise<void> {
  ofCookie = undefined
  await askSession('POST', '/sign-out')
}

/** Calls the platform's sign-in, which reads the browser's cookie, unlike all other addresses. @throws Failure */
export async function askSession<Answer>(method: 'GET' | 'POST', path: string, invitation?: string): Promise<Answer> {
  const headers = invitation === undefined ? {} : { 'x-invitation': invitation }
  const next = nextAfter('GET', {})
  return within(readSeconds, { next }, async (signal) => {
    const response = await send(`/v1/admin/session${path}`, { method, headers, signal }, next)
    if (response.ok) return (await response.json()) as Answer
    throw new Failure(response.status, await errorOf(response))
  })
}

async function send(url: string, init: RequestInit, next: string): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    throw init.signal?.aborted ? error : unreachable(next)
  }
}

/** Runs requests for at most some time. @throws Failure with words for people when they take longer, or their connection breaks */
async function within<Answer>(
  seconds: number,
  { abort, next }: { abort?: AbortSignal | undefined; next: string },
  act: (abort: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), seconds * 1000)
  try {
    return await act(abort ? AbortSignal.any([abort, limit.signal]) : limit.signal)
  } catch (error) {
    if (error instanceof Failure || abort?.aborted) throw error
    if (!limit.signal.aborted) throw unreachable(next)
    const message = `The server has not answered within ${seconds} seconds. ${next}`
    throw new Failure(0, { type: 'TimedOut', message })
  } finally {
    clearTimeout(timer)
  }
}

function unreachable(next: string): Failure {
  return new Failure(0, { type: 'Unreachable', message: `The server cannot be reached. ${next}` })
}

/** The advice after a request without an answer. A write may have been carried out. */
function nextAfter(method: string, { isReading = method === 'GET', idempotencyKey }: Request): string {
  if (isReading) return 'Check that the api runs, and try again.'
  if (idempotencyKey !== undefined) return 'Check that the api runs, and try again: it is carried out once.'
  return 'The change may have been carried out: check that the api runs, and look before you try again.'
}

async function errorOf(response: Response): Promise<Partial<ErrorBody>> {
  try {
    return (await response.json()) as Partial<ErrorBody>
  } catch {
    return { message: wordsOfForeign(response) }
  }
}

/** The words for an answer that is not the platform's, as a proxy's. */
export function wordsOfForeign({ status, statusText }: { status: number; statusText: string }): string {
  if (status === 413)
    return 'A proxy before the server refuses a request of this size (413). The operator of the platform can raise its limit.'
  return `The server answered ${status} ${statusText}`.trim()
}

/** The text for people about a failure: the problem and the next step. */
export function explain(error: unknown): string {
  if (!(error instanceof Failure)) return error instanceof Error ? error.message : String(error)
  if (error.status === 403) return `${error.message}. Ask an administrator of the workspace for that role.`
  if (error.status === 500) return `The server failed. Its log has the details under ${error.id}.`
  return error.message
}
