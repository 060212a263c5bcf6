import { isRecord } from '#shared/models/payload.ts'
import { newlineDelimited } from '#shared/json/line-format.ts'
import type { AnswerOf, OperationName } from '#shared/openapi/answer-of.ts'
import { notIsobot, redirected, refusal, unknownOutcome } from './answer-failures.ts'
import { failed, Failure, misused, unreachable } from './failure.ts'
import { environmentName, type Profile } from './profiles.ts'

export type Query = Record<string, string | number | boolean | undefined>

export interface Request {
  /** Undefined values are omitted. */
  query?: Query
  /** Sent as JSON. */
  body?: unknown
  /** The bot as which the request is made, for operations of the Runtime API. */
  botId?: string
  /** Cancels the request. */
  signal?: AbortSignal
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A connection to the platform of a profile. */
export interface Connection {
  readonly profile: Profile
  /**
   * Calls an operation of the Admin API or, with a bot, of the Runtime API; its name determines the type of the answer.
   * @returns the body of the answer
   * @throws Failure with a remedy: with exit code 3 where the platform is unavailable or refuses the token
   */
  ask<Name extends OperationName>(method: Method, path: string, request?: Request): Promise<AnswerOf<Name>>
  /**
   * Calls an operation that answers with lines of JSON, which are not collected.
   * @throws Failure as `ask` does; the stream itself fails with the error of the connection
   */
  stream(method: Method, path: string, request?: Request): Promise<AsyncIterable<Uint8Array>>
  /** All rows of a paginated operation; `rows` is the name of their field in the answer. */
  list<T>(path: string, rows: string, request?: Request & { limit?: number }): AsyncGenerator<T>
}

const largestPage = 100

/** Opens a connection for a profile; the workspace may be omitted where the token has access to one only. */
export async function connect(chosen: Omit<Profile, 'workspaceId'> & { workspaceId?: string }): Promise<Connection> {
  const profile = { ...chosen, workspaceId: chosen.workspaceId ?? (await onlyWorkspace(chosen)) }
  const ask: Connection['ask'] = (method, path, request) => send(profile, method, path, request)
  return {
    profile,
    ask,
    stream: (method, path, request) => sendForLines(profile, method, path, request),
    async *list<T>(path: string, rows: string, { limit = Infinity, ...request }: Request & { limit?: number } = {}) {
      let nextToken: string | undefined
      let left = limit
      do {
        const query = { pageSize: Math.min(left, largestPage), ...request.query, nextToken }
        const answer = await send<Record<string, unknown>>(profile, 'GET', path, { ...request, query })
        const page = rowsOf<T>(profile, answer, rows).slice(0, left)
        yield* page
        left -= page.length
        const meta = (answer.meta ?? answer) as { nextToken?: string }
        nextToken = meta.nextToken
      } while (nextToken !== undefined && left > 0)
    },
  }
}

export type WorkspaceSummary = Pick<AnswerOf<'listWorkspaces'>['workspaces'][number], 'id' | 'name'>

/** The workspaces that a token's account is a member of. */
export async function workspacesOf(profile: Pick<Profile, 'name' | 'url' | 'token'>): Promise<WorkspaceSummary[]> {
  const query = { pageSize: largestPage }
  const answer = await send<Record<string, unknown>>(profile, 'GET', '/v1/admin/workspaces', { query })
  return rowsOf(profile, answer, 'workspaces')
}

/** @throws Failure when the answer is that of another service than Isobot */
function rowsOf<T>(profile: Pick<Profile, 'url'>, answer: Record<string, unknown>, field: string): T[] {
  const rows = answer[field]
  if (Array.isArray(rows)) return rows as T[]
  throw notIsobot(profile, { status: 200, text: JSON.stringify(answer) })
}

/**
 * Accepts an invitation to a workspace, as the account of a token or as a new one.
 *
 * @param given the invitation's secret, or the link to its page
 * @returns the token, a new one where the request had none
 */
export async function acceptInvitation(
  profile: Pick<Profile, 'name' | 'url'> & { token: string | undefined },
  given: string,
): Promise<Pick<Profile, 'workspaceId'> & { token?: string }> {
  const invitation = given.trim().replace(/^.*#/, '')
  return send(profile, 'POST', '/v1/admin/account/invitation', { headers: { 'x-invitation': invitation } })
}

async function onlyWorkspace(profile: Pick<Profile, 'name' | 'url' | 'token'>): Promise<string> {
  const workspaces = await workspacesOf(profile)
  if (workspaces.length === 1) return workspaces[0]!.id
  if (workspaces.length === 0) {
    throw failed('The token’s account is a member of no workspace: ask an administrator to add it')
  }
  const listed = workspaces.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
  throw misused(`The token’s account is a member of several workspaces: set ISOBOT_WORKSPACE to one of\n${listed}`)
}

/** The sender of a request. */
type Sender = Pick<Profile, 'name' | 'url'> & { token: string | undefined; workspaceId?: string }

async function send<T>(
  profile: Sender,
  method: Method,
  path: string,
  request?: Request & { headers?: Record<string, string> },
): Promise<T> {
  const { status, text } = await reach(profile, toFetch(profile, method, path, request), async (response) => ({
    status: response.status,
    text: await response.text(),
  }))
  return toAnswer(profile, { status, text, isChange: method !== 'GET' }) as T
}

/** Lines of an answer are read, however long that takes, and change nothing. */
async function sendForLines(
  profile: Sender,
  method: Method,
  path: string,
  request?: Request,
): Promise<AsyncIterable<Uint8Array>> {
  const fetched = { ...toFetch(profile, method, path, request), isChange: false, limit: undefined }
  const response = await reach(profile, fetched, (begun) => Promise.resolve(begun))
  const { status, headers, body } = response
  if (status === 200 && body && headers.get('content-type')?.startsWith(newlineDelimited.contentType)) return body
  const text = await response.text()
  toAnswer(profile, { status, text, isChange: false })
  throw notIsobot(profile, { status, text })
}

/** A request as `fetch` sends it. */
interface Fetched {
  target: string
  request: RequestInit
  /** Whether it may have changed something when it fails. */
  isChange: boolean
  /** Milliseconds until the answer has to be there. */
  limit: number | undefined
}

/** Longer than any request takes, uploads that a worker inspects included. */
const requestMilliseconds = 120_000

function toFetch(
  profile: Sender,
  method: Method,
  path: string,
  {
    query = {},
    body = method === 'GET' || method === 'DELETE' ? undefined : {},
    botId,
    signal,
    headers,
  }: Request & { headers?: Record<string, string> } = {},
): Fetched {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  const target = search.size > 0 ? `${path}?${search.toString()}` : path
  const request = {
    method,
    headers: {
      ...headers,
      ...(profile.token !== undefined && { authorization: `Bearer ${profile.token}` }),
      ...(profile.workspaceId !== undefined && { 'x-workspace-id': profile.workspaceId }),
      ...(botId !== undefined && { 'x-bot-id': botId }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }
  return { target, request, isChange: method !== 'GET', limit: requestMilliseconds }
}

/** @throws Failure when the answer is a refusal, or not the platform's */
function toAnswer(
  profile: Sender,
  { status, text, isChange }: { status: number; text: string; isChange: boolean },
): Record<string, unknown> {
  const answer = readObject(text)
  if (!answer) throw notIsobot(profile, { status, text, isChange })
  if (status >= 300) throw refusal(profile, status, answer)
  return answer
}

/** @param read what has to be read within the limit of time */
async function reach<T>(
  profile: Pick<Profile, 'name' | 'url'>,
  { target, request, isChange, limit }: Fetched,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const { name, url } = profile
  const patience = new AbortController()
  const end = () => patience.abort(new Error('the answer takes too long'))
  const timer = limit === undefined ? undefined : setTimeout(end, limit)
  const signal = request.signal ? AbortSignal.any([request.signal, patience.signal]) : patience.signal
  try {
    // Fetch would follow a redirect without the token, a POST as a GET, or with its body to another server.
    const response = await fetch(`${url}${target}`, { ...request, signal, redirect: 'manual' })
    const location = isRedirect(response.status) ? response.headers.get('location') : null
    if (location !== null) throw redirected(profile, target, location)
    return await read(response)
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    request.signal?.throwIfAborted()
    if (isChange && (patience.signal.aborted || mayBeSent.test(reasonOf(cause)))) {
      throw unreachable(`${url} has not answered (${reasonOf(cause)}): ${unknownOutcome}`, {
        cause,
        type: 'Unreachable',
      })
    }
    throw unreachable(
      `Isobot cannot be reached at ${url} (${reasonOf(cause)}), the address ${addressOf(name)}. ` +
        'Start it with `isobot start` if it runs here, or choose another platform from `isobot profiles list`',
      { cause, type: 'Unreachable' },
    )
  } finally {
    clearTimeout(timer)
  }
}

/** Errors of connections over which a request may have been sent. */
const mayBeSent = /^(?:ECONNRESET|EPIPE|ETIMEDOUT|UND_ERR_(?:SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT))$/

function addressOf(name: string): string {
  return name === environmentName ? 'in ISOBOT_URL' : `of the profile "${name}"`
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
