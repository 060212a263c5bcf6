import type { AnswerOf, OperationName } from '../../../shared/openapi/answer-of.ts'
import { session, signOut } from '../state/session.ts'

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

export type Query = Record<string, string | number | boolean | undefined>

export interface Request {
  query?: Query
  body?: object
  /** Of requests with the same key, one is carried out, and the others receive its answer. */
  idempotencyKey?: string
  abort?: AbortSignal
  /** Lets the request outlive the page. */
  keepalive?: boolean
  /** Credentials for this request in place of the session's. */
  as?: Asking
  /** The bot in whose name an operation of the Files or Tables API is called; the path is then after `/v1`. */
  botId?: string
}

/**
 * Calls an operation of the Admin API; its name determines the type of the answer: `ask<'getQueue'>('GET', '/queue')`.
 *
 * @param path after `/v1/admin`, or after `/v1` for a bot
 * @throws Failure; when the server refuses the token, the user is signed out first
 */
export async function ask<Name extends OperationName>(
  method: string,
  path: string,
  request: Request = {},
): Promise<AnswerOf<Name>> {
  const response = await reach(method, path, request)
  if (response.ok) return (await response.json()) as AnswerOf<Name>
  throw await refused(response, request)
}

/** Signs the user out when the server refuses the session's token. @returns the failure that the answer is */
export async function refused(response: Response, { as }: Request = {}): Promise<Failure> {
  const failure = new Failure(response.status, await errorOf(response))
  if (failure.status === 401 && !as) {
    signOut(session.value?.token ? 'The token is no longer valid: sign in with another token.' : sessionEnded)
  }
  return failure
}

/** Sends a request with the credentials. @throws Failure when the server is not reached */
export async function reach(method: string, path: string, request: Request): Promise<Response> {
  const { query = {}, body, abort, keepalive = false, botId, idempotencyKey } = request
  const as: Asking | undefined = request.as ?? session.value
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  const token = request.as ? request.as.token : await ownToken()
  return send(`${botId ? '/v1' : '/v1/admin'}${path}${search && `?${search}`}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(as?.invitation && { 'x-invitation': as.invitation }),
      ...(as?.workspaceId && { 'x-workspace-id': as.workspaceId }),
      ...(botId && { 'x-bot-id': botId }),
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(abort && { signal: abort }),
    keepalive,
  })
}

const sessionEnded = 'Your session has ended: sign in again.'

/** The token for the browser's cookie, and when to get the next one. */
let ofCookie: { token: Promise<string>; until: number } | undefined

/**
 * The token of the signed-in account: its personal token, or one that is valid for some minutes.
 * @returns undefined when nobody is signed in
 * @throws Failure; when the session of the cookie has ended, the user is signed out first
 */
export async function ownToken(): Promise<string | undefined> {
  if (!session.value || session.value.token !== undefined) return session.value?.token
  try {
    return await tokenOfCookie()
  } catch (error) {
    if (error instanceof Failure && error.status === 401) signOut(sessionEnded)
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
  const response = await send(`/v1/admin/session${path}`, { method, headers })
  if (response.ok) return (await response.json()) as Answer
  throw new Failure(response.status, await errorOf(response))
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    const isReading = (init.method ?? 'GET') === 'GET'
    const next = isReading
      ? 'This page keeps retrying; check that the api runs.'
      : 'Check that the api runs, and try again.'
    throw new Failure(0, { type: 'Unreachable', message: `The server cannot be reached. ${next}` })
  }
}

async function errorOf(response: Response): Promise<Partial<ErrorBody>> {
  try {
    return (await response.json()) as Partial<ErrorBody>
  } catch {
    return { message: `The server answered ${response.status} ${response.statusText}` }
  }
}

/** The text for people about a failure: the problem and the next step. */
export function explain(error: unknown): string {
  if (!(error instanceof Failure)) return error instanceof Error ? error.message : String(error)
  if (error.status === 403) return `${error.message}. Ask an administrator of the workspace for that role.`
  if (error.status === 500) return `The server failed. Its log has the details under ${error.id}.`
  return error.message
}
