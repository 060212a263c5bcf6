/** The public type of every error, with its HTTP status. */
export const errorStatuses = {
  Unknown: 500,
  Internal: 500,
  Unauthorized: 401,
  PaymentRequired: 402,
  Forbidden: 403,
  QuotaExceeded: 403,
  ResourceNotFound: 404,
  MethodNotFound: 405,
  InvalidPayload: 400,
  InvalidJsonSchema: 400,
  InvalidDataFormat: 400,
  InvalidIdentifier: 400,
  ReferenceNotFound: 400,
  InvalidQuery: 400,
  Runtime: 400,
  BreakingChanges: 400,
  AlreadyExists: 409,
  RelationConflict: 409,
  ReferenceConstraint: 409,
  ResourceLockedConflict: 409,
  ResourceGone: 410,
  PayloadTooLarge: 413,
  LimitExceeded: 413,
  UnsupportedMediaType: 415,
  RateLimited: 429,
  OperationTimeout: 504,
} as const

export type ErrorType = keyof typeof errorStatuses

/**
 * The body of every failed request. All four fields are always present: published clients lose the type without them.
 */
export interface ErrorBody {
  id: string
  code: number
  type: ErrorType
  message: string
  metadata?: Record<string, unknown>
}

interface ApiErrorOptions extends ErrorOptions {
  /** Machine-readable details for the caller. */
  metadata?: Record<string, unknown>
  /** An HTTP status that is more specific than the type's. */
  status?: number
  /** Seconds after which a retry may succeed. */
  retryAfterSeconds?: number
}

/** An error whose message is for the caller: what was wrong and what to do next. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly id = errorId()
  readonly type: ErrorType
  readonly status: number
  readonly metadata: Record<string, unknown> | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(type: ErrorType, message: string, options: ApiErrorOptions = {}) {
    super(message, options)
    this.type = type
    this.status = options.status ?? errorStatuses[type]
    this.metadata = options.metadata
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  toJSON(): ErrorBody {
    const body: ErrorBody = { id: this.id, code: this.status, type: this.type, message: this.message }
    return this.metadata ? { ...body, metadata: this.metadata } : body
  }

  /**
   * Turns any thrown value into an ApiError. The message of an unexpected error is logged and not sent to the caller.
   */
  static from(cause: unknown): ApiError {
    if (cause instanceof ApiError) return cause
    if (cause instanceof TooManyWaitingError) {
      return new ApiError('RateLimited', cause.message, { cause, retryAfterSeconds: 1 })
    }
    if (isUnstorable(cause)) {
      return new ApiError(
        'InvalidPayload',
        'The input holds a character that cannot be stored (U+0000 or half of a surrogate pair): remove it',
        { cause },
      )
    }
    if (outOfRange.has(postgresCode(cause) ?? '')) {
      return new ApiError('InvalidPayload', 'The input holds a number or a time that is out of range: correct it', {
        cause,
      })
    }
    if (isTooLong(cause)) {
      return new ApiError('LimitExceeded', 'Tags and properties hold at most 400,000 bytes: remove some', { cause })
    }
    const missing = missingIn(cause)
    if (missing) {
      return notFound(missing, 'it was deleted at the same time', { cause })
    }
    if (isConflict(cause)) {
      return unavailable('A concurrent change conflicts with this one: try again', { cause, retryAfterSeconds: 1 })
    }
    if (isOutage(cause)) {
      return unavailable('A service that the platform depends on is unavailable: try again soon', {
        cause,
        retryAfterSeconds: 2,
      })
    }
    return new ApiError('Internal', 'Internal error: the log has the details under the id of this error', {
      cause,
    })
  }
}

/**
 * Too much work of a tenant, or of all, waits for a common resource. It is no `ApiError`, as the errors of the database are none:
 * the input is not at fault.
 */
export class TooManyWaitingError extends Error {
  override name = 'TooManyWaitingError'
}

/**
 * A 404. Its message contains "not found", on which published code matches.
 *
 * @param subject the resource, for instance `Bot 'b1'`
 * @param detail why the resource is missing, or what to do
 */
export function notFound(subject: string, detail?: string, options?: ErrorOptions): ApiError {
  return new ApiError('ResourceNotFound', `${subject} not found${detail === undefined ? '' : `: ${detail}`}`, options)
}

/** Whether an error is one of `notFound`. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.type === 'ResourceNotFound'
}

/** The request cannot be served now but can be soon, so the caller should retry. No published type means this. */
export function unavailable(message: string, options: ErrorOptions & { retryAfterSeconds: number }): ApiError {
  return new ApiError('Internal', message, { ...options, status: 503 })
}

/**
 * Codes of Node, and of PostgreSQL: connection failure (08), read-only (25006), idle or long transaction ended (25P03, 25P04),
 * login refused (28), missing database (3D000), revoked rights (42501), full disk, memory or
 * connections (53), lock not available (55P03), ended or cancelled from outside, by an administrator or a time limit of the
 * server (57), failed read or write (58). None of them is about the statement.
 */
const outageCodes =
  /^(E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)|08...|25006|25P0[34]|28...|3D000|42501|5[378]...|55P03)$/

/** Messages of errors without a code. The statement may precede them. */
const connectionErrorMessages = [
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Query read timeout',
  'timeout expired',
  'Connection is closed.',
  'Command timed out',
]

/**
 * Whether an operation failed because PostgreSQL or Redis is unavailable, does not answer, has no free connection, or refuses
 * all writes for a while.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof ApiError) return error.status === 503
  if (['KnexTimeoutError', 'MaxRetriesPerRequestError'].includes(error.name)) return true
  if (outageCodes.test(postgresCode(error) ?? '')) return true
  return connectionErrorMessages.some((words) => error.message.endsWith(words))
}

/**
 * PostgreSQL's codes for a server that is read-only, for rights that were revoked, as Heroku does with a database over its
 * quota, and for a full disk.
 */
const writeRefusals = new Set(['25006', '42501', '53100'])

/** Whether a connection's server, or its transactions by default, are read-only. */
export function isReadOnly(error: unknown): boolean {
  return postgresCode(error) === '25006'
}

/** Whether PostgreSQL refuses all writes for now, whatever they write. */
export function isWriteRefusal(error: unknown): boolean {
  return writeRefusals.has(postgresCode(error) ?? '')
}

/** PostgreSQL's codes for a transaction that a concurrent one conflicts with: serialization failure, deadlock. */
const conflicts = new Set(['40001', '40P01'])

/**
 * Whether PostgreSQL rolled a transaction back because of a concurrent one, or of a migration that has changed the columns of a
 * prepared statement: it may be repeated.
 */
export function isConflict(error: unknown): boolean {
  return conflicts.has(postgresCode(error) ?? '') || isStalePlan(error)
}

/** Whether a prepared statement has other columns since a migration: its connection cannot execute it again. */
export function isStalePlan(error: unknown): boolean {
  return postgresCode(error) === '0A000' && (error as Error).message.endsWith('cached plan must not change result type')
}

/** PostgreSQL's codes for text that is valid JSON but cannot be stored as text: 22021, 22P02 and 22P05. */
const unstorable = new Set(['22021', '22P02', '22P05'])

/** PostgreSQL's codes for numbers and times that no column can hold, which the schemas do not refuse yet. */
const outOfRange = new Set(['22003', '22007', '22008'])

/** Whether PostgreSQL refused text that it cannot store. */
export function isUnstorable(error: unknown): boolean {
  return unstorable.has(postgresCode(error) ?? '')
}

/** Whether PostgreSQL refused tags or properties that exceed their size (`migrations/005_sizes_of_tags.ts`). */
function isTooLong(error: unknown): boolean {
  if (postgresCode(error) !== checkViolation) return false
  return error instanceof Error && 'constraint' in error && String(error.constraint).endsWith('_size')
}

/** The resource that a foreign key refers to, by the end of its name. */
const referents: Record<string, string> = {
  user: 'User',
  owner: 'User',
  account: 'Account',
  conversation: 'Conversation',
  installation: 'Integration',
  integration: 'Integration',
  bot: 'Bot',
  event: 'Event',
  parent: 'Workflow',
  workspace: 'Workspace',
}

/**
 * The resource whose absence violated a foreign key: it may be deleted between the check for it and the write that
 * refers to it. Undefined for any other error.
 */
function missingIn(cause: unknown): string | undefined {
  if (postgresCode(cause) !== foreignKeyViolation) return undefined
  const constraint = cause instanceof Error && 'constraint' in cause ? String(cause.constraint) : ''
  const [, referent = ''] = /_([a-z]+)_id_fkey$/.exec(constraint) ?? []
  return referents[referent] ?? 'Referenced resource'
}

/** The SQLSTATE of an error of PostgreSQL; undefined for any other error. */
export function postgresCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

export const uniqueViolation = '23505'
export const foreignKeyViolation = '23503'
export const lockNotAvailable = '55P03'
const checkViolation = '23514'

/** `err_20261120103104x642D5BD8`: the time in UTC, then eight random hexadecimal digits. */
function errorId(): string {
  const time = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)
  const random = Math.floor(Math.random() * 0x1_0000_0000)
  return `err_${time}x${random.toString(16).toUpperCase().padStart(8, '0')}`
}
