import { authorise, tenantOf, type Caller } from './rpc/caller.ts'
import type { Context } from './context.ts'
import { ApiError, isWriteRefusal } from './errors.ts'
import { findReferenced, type FileReference } from './files/find-content.ts'
import { dispatchOnce } from './rpc/idempotency.ts'
import type { LineFormat } from './json/line-format.ts'
import { collectLines, leaveUnread, toLineStream, type LineStream } from './rpc/line-stream.ts'
import { answersInLines, type Operation } from './rpc/operation.ts'
import { findOperation, type PathParameters } from './router.ts'
import { slowly } from './store/connection-shares.ts'
import type { FileContent } from './store/file-contents.ts'
import { asTenant } from './tenant-scope.ts'

/** A request in the form that every entry point produces. */
export interface Request {
  method: string
  /** Percent-encoded as received, without the query. */
  path: string
  /** The query's fields; the fields of an object may be separate, with a dot (`nestQuery`). */
  query?: Record<string, unknown>
  /** Reads a header that an operation declares. Absent at entry points without headers. */
  header?: (name: string) => string | undefined
  /** The header `Idempotency-Key`, which applies to every POST. */
  idempotencyKey?: string | undefined
  /**
   * Reads the JSON body. Called only for an authorised caller, so that the body of an unauthorised request is never
   * read.
   */
  body(caller: Caller, operation: Operation): Promise<unknown>
  /**
   * Counts bytes of an answer that is large, before it is made. Absent at entry points that hold no answers.
   *
   * @param bytes of the whole answer so far
   * @throws ApiError 503 when there is no room for it
   */
  holdAnswer?: (caller: Caller, bytes: number) => void
  /** A signal that is aborted when the caller has gone. Absent at entry points that cannot see it. */
  callerGone?: () => AbortSignal
  /** Requests an address that the caller names; see `Context`. Absent at entry points that request none. */
  fetchForCaller?: Context['fetchForCaller']
  /**
   * Authenticates the caller. Called once, immediately after the operation is found.
   * @throws ApiError `Unauthorized` when the credentials do not suffice
   */
  identify(operation: Operation, parameters: PathParameters): Caller | Promise<Caller>
}

export interface Reply {
  status: number
  /** In addition to the headers of every answer. */
  headers?: Record<string, string>
  body: unknown
  /** The request failed because PostgreSQL refuses all writes for now; present only if so. */
  isWriteRefused?: true
  /** The body is internal: it names the stream that the HTTP entry point opens. */
  opensStream?: boolean
  /** The answer instead of a body, in lines. */
  stream?: FormattedLines
  /** The answer instead of a body, as it is stored. */
  content?: FileContent
}

/** An answer in lines, with how they are written. */
export interface FormattedLines extends LineStream {
  format: LineFormat
}

/** Answers one request of any entry point. Never throws: errors become replies. */
export async function dispatch(context: Context, request: Request): Promise<Reply> {
  let work: Promise<Reply> | undefined
  let operation: Operation | undefined
  const onFound = (found: Operation) => (operation = found)
  try {
    return await context.dependencies.database.failFast(() => (work = carryOut(context, request, onFound)))
  } catch (cause) {
    // A stream that begins after the refusal has no reader.
    work?.then(({ stream }) => stream && leaveUnread(stream)).catch(() => {})
    const error = ApiError.from(cause)
    logFailure(context, error, { method: request.method, path: request.path })
    return { ...toReply(error, operation), ...(isWriteRefusal(cause) && { isWriteRefused: true }) }
  }
}

/** @param onFound called as soon as the operation is known */
async function carryOut(context: Context, request: Request, onFound: (operation: Operation) => void): Promise<Reply> {
  const { operation, parameters } = findOperation(request.method, request.path)
  onFound(operation)
  const caller = await request.identify(operation, parameters)
  if (!(operation.isForBotsToo && caller.kind === 'bot')) authorise(caller, operation.access)
  const given = operation.takesBody
    ? asObject(await request.body(caller, operation))
    : operation.readQuery(request.query ?? {})
  const input = { ...given, ...queryFieldsOf(operation, request), ...headersOf(operation, request), ...parameters }
  const respond = () => replyTo({ ...context, caller }, request, operation, input)
  const scope = { tenant: tenantOf(caller), isOfCode: caller.kind === 'bot' && caller.execution !== undefined }
  const gone = operation.changesNothing ? request.callerGone : undefined
  return asTenant(scope, () => (operation.mayTakeLong ? slowly(context.db, respond, gone) : respond()))
}

/** Replies to a request that has been read. @param input not validated */
async function replyTo(
  context: Context & { caller: Caller },
  request: Request,
  operation: Operation,
  input: Record<string, unknown>,
): Promise<Reply> {
  const { status, opensStream, answersWithFile, lineFormat: format } = operation
  const { caller } = context
  const streamsLines = answersInLines(operation, input)
  const { callerGone, fetchForCaller } = request
  if (request.idempotencyKey !== undefined && operation.method === 'POST') {
    const keyed = { key: request.idempotencyKey, operation: streamsLines ? collected(operation) : operation, input }
    const { body, isRepeated } = await dispatchOnce(context, keyed)
    const headers = isRepeated && { headers: { 'Idempotent-Replayed': 'true' } }
    if (answersWithFile) return { ...(await contentReply(context, status, body)), ...headers }
    return streamsLines
      ? { status, body: null, stream: { ...toLineStream(body as unknown[]), format }, ...headers }
      : { status, body, ...headers }
  }
  const holdAnswer = (bytes: number) => request.holdAnswer?.(caller, bytes)
  const body = await operation.call({ ...context, holdAnswer, callerGone, fetchForCaller }, input)
  if (answersWithFile) return contentReply(context, status, body)
  return streamsLines
    ? { status, body: null, stream: { ...(body as LineStream), format } }
    : { status, body, opensStream }
}

async function contentReply({ db }: Context, status: number, reference: unknown): Promise<Reply> {
  return { status, body: null, content: await findReferenced(db, reference as FileReference) }
}

/** The operation with its lines as a list, which can be stored: a stream with an idempotency key is read to its end first. */
function collected(operation: Operation): Operation {
  return {
    ...operation,
    async call(context, input) {
      const lines = await collectLines((await operation.call(context, input)) as LineStream)
      const { error } = (lines.at(-1) ?? {}) as { error?: unknown }
      // The key of a request that fails can be used again.
      if (error !== undefined) throw new ApiError('Runtime', textOf(error))
      return lines
    },
  }
}

/** The message of an error in a line, which is a text or an object. */
function textOf(error: unknown): string {
  return typeof error === 'string' ? error : String((error as { message?: unknown } | null)?.message)
}

/** Logs internal errors. A known outage is logged once by the dependency monitor, not per request. */
export function logFailure({ log }: Context, error: ApiError, where: object): void {
  const { status, cause, id: errorId } = error
  if (status < 500 || (status === 503 && !cause)) return
  log[status === 503 ? 'warn' : 'error']({ err: cause ?? error, errorId, ...where }, error.message)
}

/** The reply that an error becomes. @param operation the operation that failed, if it was found */
export function toReply(error: ApiError, operation?: Operation): Reply {
  const { status, retryAfterSeconds, type, message } = error
  const body = error.toJSON()
  return {
    status,
    ...(retryAfterSeconds !== undefined && { headers: { 'Retry-After': String(retryAfterSeconds) } }),
    // Libraries of other APIs read the field `error` alone.
    body: operation?.isForLibraries
      ? { ...body, error: { type, code: body.metadata?.['subtype'] ?? type, message } }
      : body,
  }
}

/** The input fields that the request has as headers. */
function headersOf({ headers }: Operation, { header }: Request): Record<string, string> {
  return Object.fromEntries(
    headers.flatMap((name) => {
      const value = header?.(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** The input fields that the request has in the query. The body cannot have them. */
function queryFieldsOf({ queryFields }: Operation, { query = {} }: Request): Record<string, unknown> {
  return Object.fromEntries(queryFields.map((name) => [name, query[name]]))
}

function asObject(body: unknown): object {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new ApiError('InvalidPayload', 'The body must be a JSON object')
}
