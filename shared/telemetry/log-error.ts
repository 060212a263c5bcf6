/**
 * What the log says of an error beside its name, words and stack. Everything else that libraries attach is left out:
 * commands with their arguments, rows, addresses with passwords.
 */
const told = [
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

/** An error as the log has it, with its causes. What is no error stays as it is. */
export function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const fields = error as unknown as Record<string, unknown>
  const errors = error instanceof AggregateError ? error.errors.slice(0, maxErrors) : []
  const goesOn = depth < deepestCause
  return {
    type: name,
    message,
    stack,
    ...Object.fromEntries(told.filter((field) => isPlain(fields[field])).map((field) => [field, fields[field]])),
    ...(errors.length > 0 && goesOn && { errors: errors.map((each) => describeError(each, depth + 1)) }),
    ...(cause !== undefined && goesOn && { cause: describeError(cause, depth + 1) }),
  }
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}
