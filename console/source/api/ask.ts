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
  const { query = {}, body, abort, botId, idempotencyKey } = request
  const as: Asking | undefined = request.as ?? session.value
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  const response = await reach(`${botId ? '/v1' : '/v1/admin'}${path}${search && `?${search}`}`, {
    method,
    headers: {
      ...(as?.token && { authorization: `Bearer ${as.token}` }),
      ...(as?.invitation && { 'x-invitation': as.invitation }),
      ...(as?.workspaceId && { 'x-workspace-id': as.workspaceId }),
      ...(botId && { 'x-bot-id': botId }),
      ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(abort && { signal: abort }),
  })
  if (response.ok) return (await response.json()) as AnswerOf<Name>
  const failure = new Failure(response.status, await errorOf(response))
  if (failure.status === 401 && !request.as) signOut('The token is no longer valid: sign in with another token.')
  throw failure
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new Failure(0, {
      type: 'Unreachable',
      message: 'The server cannot be reached. This page keeps retrying; check that the api runs.',
    })
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
