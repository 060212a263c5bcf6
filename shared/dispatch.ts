import { authorise, type Caller } from './rpc/caller.ts'
import type { Context } from './context.ts'
import { ApiError } from './errors.ts'
import { dispatchOnce } from './rpc/idempotency.ts'
import type { Operation } from './rpc/operation.ts'
import { nestQuery } from './rpc/query.ts'
import { findOperation, type PathParameters } from './router.ts'

/** A request as every door hands it over. */
export interface Request {
  method: string
  /** As it came, percent-encoded, without the query. */
  path: string
  /** The query's fields; those of an object may be given one by one, with a dot (`nestQuery`). */
  query?: Record<string, unknown>
  /** The header `Idempotency-Key`, which counts where something is created: for every POST. */
  idempotencyKey?: string | undefined
  /** Reads the JSON body. It is called only for a caller who may call, so that a stranger's body is never read. */
  body(caller: Caller): Promise<unknown>
  /**
   * Tells who asks. Called once, without delay after the operation is found.
   * @throws ApiError `Unauthorized` when the credentials do not suffice
   */
  identify(operation: Operation, parameters: PathParameters): Caller | Promise<Caller>
}

export interface Reply {
  status: number
  /** Beside those of every answer. */
  headers?: Record<string, string>
  body: unknown
  /** The body is not for the caller: it tells the HTTP door which stream to open. */
  opensStream?: boolean
}

/** Answers one request, whichever door it came through. Never throws: an error is a reply too. */
export async function dispatch(context: Context, request: Request): Promise<Reply> {
  try {
    return await context.dependencies.database.failFast(() => carryOut(context, request))
  } catch (cause) {
    const error = ApiError.from(cause)
    logFailure(context, error, { method: request.method, path: request.path })
    return toReply(error)
  }
}

async function carryOut(context: Context, request: Request): Promise<Reply> {
  const { operation, parameters } = findOperation(request.method, request.path)
  const caller = await request.identify(operation, parameters)
  authorise(caller, operation.access)
  const given = operation.takesBody ? asObject(await request.body(caller)) : nestQuery(request.query ?? {})
  const input = { ...given, ...parameters }
  const { status, opensStream } = operation
  if (request.idempotencyKey !== undefined && operation.method === 'POST') {
    const keyed = { key: request.idempotencyKey, operation, input }
    const { body, isRepeated } = await dispatchOnce({ ...context, caller }, keyed)
    return { status, body, ...(isRepeated && { headers: { 'Idempotent-Replayed': 'true' } }) }
  }
  return { status, body: await operation.call({ ...context, caller }, input), opensStream }
}

/** Logs what is our fault. That a dependency is away is logged where it is noticed, and not for every request. */
export function logFailure({ log }: Context, error: ApiError, where: object): void {
  const { status, cause, id: errorId } = error
  if (status < 500 || (status === 503 && !cause)) return
  log[status === 503 ? 'warn' : 'error']({ err: cause ?? error, errorId, ...where }, error.message)
}

/** The answer that an error is. */
export function toReply(error: ApiError): Reply {
  const { status, retryAfterSeconds } = error
  return {
    status,
    ...(retryAfterSeconds !== undefined && { headers: { 'Retry-After': String(retryAfterSeconds) } }),
    body: error.toJSON(),
  }
}

function asObject(body: unknown): object {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new ApiError('InvalidPayload', 'The body must be a JSON object')
}
