/** Errors with the codes and messages of Node's. */

/** Makes an error with the code that Node's has. */
export function codedError(
  code: string,
  message: string,
  Kind: ErrorConstructor | TypeErrorConstructor | RangeErrorConstructor = Error,
): Error {
  return Object.assign(new Kind(message), { code })
}

/** @param expected for instance `of type string or an instance of Buffer` */
export function invalidType(name: string, expected: string, value: unknown): Error {
  const kind = name.includes('.') ? 'property' : 'argument'
  const subject = name.endsWith(' argument') ? `The ${name}` : `The "${name}" ${kind}`
  return codedError('ERR_INVALID_ARG_TYPE', `${subject} must be ${expected}.${received(value)}`, TypeError)
}

/** Node's error of `buffer.write` names no argument. */
export function wrongText(): Error {
  return codedError('ERR_INVALID_ARG_TYPE', 'argument must be a string', TypeError)
}

/** @param range for instance `>= 0 && <= 4` */
export function outOfRange(name: string, range: string, value: unknown): Error {
  const message = `The value of "${name}" is out of range. It must be ${range}. Received ${shown(value)}`
  return codedError('ERR_OUT_OF_RANGE', message, RangeError)
}

export function outOfBounds(name?: string): Error {
  const message =
    name === undefined ? 'Attempt to access memory outside buffer bounds' : `"${name}" is outside of buffer bounds`
  return codedError('ERR_BUFFER_OUT_OF_BOUNDS', message, RangeError)
}

export function unknownEncoding(encoding: unknown): Error {
  return codedError('ERR_UNKNOWN_ENCODING', `Unknown encoding: ${String(encoding)}`, TypeError)
}

export function wrongSize(multiple: string): Error {
  return codedError('ERR_INVALID_BUFFER_SIZE', `Buffer size must be a multiple of ${multiple}`, RangeError)
}

/** @throws for anything else than a number, and for one outside of a range */
export function checkNumber(value: unknown, name: string, min?: number, max?: number): void {
  if (typeof value !== 'number') throw invalidType(name, 'of type number', value)
  if (
    (min !== undefined && value < min) ||
    (max !== undefined && value > max) ||
    (min !== undefined && Number.isNaN(value))
  ) {
    const [low, high] = [min === undefined ? '' : `>= ${min}`, max === undefined ? '' : `<= ${max}`]
    throw outOfRange(name, [low, high].filter(Boolean).join(' && '), value)
  }
}

/** @throws for anything else than an integer of a range */
export function checkInteger(value: unknown, name: string, min = 0, max: number = Number.MAX_SAFE_INTEGER): void {
  if (typeof value !== 'number') throw invalidType(name, 'of type number', value)
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value)
  if (value < min || value > max) throw outOfRange(name, `>= ${min} && <= ${max}`, value)
}

/** The end of a message about a type. */
function received(value: unknown): string {
  if (value === undefined || value === null) return ` Received ${value}`
  if (typeof value === 'function') return ` Received function ${value.name}`
  if (typeof value === 'object') {
    const { name } = (value as { constructor?: { name?: unknown } }).constructor ?? {}
    return typeof name === 'string' && name !== ''
      ? ` Received an instance of ${name}`
      : ' Received [Object: null prototype] {}'
  }
  const text = typeof value === 'string' ? `'${value}'` : shown(value)
  return ` Received type ${typeof value} (${text.length > 28 ? `${text.slice(0, 25)}...` : text})`
}

function shown(value: unknown): string {
  if (typeof value === 'bigint') return `${separated(String(value))}n`
  if (Number.isInteger(value) && Math.abs(value as number) > 2 ** 32) return separated(String(value))
  return typeof value === 'string' ? `'${value}'` : Object.is(value, -0) ? '-0' : String(value)
}

function separated(digits: string): string {
  return digits.replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, '_')
}
