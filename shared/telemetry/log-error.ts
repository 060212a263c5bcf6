/**
 * The properties of an error that are logged beside its name, message and stack. All others that libraries attach are
 * left out: commands with their arguments, rows, addresses with passwords.
 */
const loggedFields = [
  'code',
  'errno',
  'syscall',
  'address',
  'port',
  'status',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
] as const

const deepestCause = 5
const maxErrors = 10

/** An error in the form that is logged, with its causes. A value that is no error is returned as it is. */
export function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const fields = error as unknown as Record<string, unknown>
  const errors = error instanceof AggregateError ? error.errors.slice(0, maxErrors) : []
  const isExpanded = depth < deepestCause
  return {
    type: name,
    message,
    stack,
    ...Object.fromEntries(
      loggedFields.filter((field) => isPlain(fields[field])).map((field) => [field, fields[field]]),
    ),
    ...(errors.length > 0 && isExpanded && { errors: errors.map((each) => describeError(each, depth + 1)) }),
    ...(cause !== undefined && isExpanded && { cause: describeError(cause, depth + 1) }),
  }
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}
