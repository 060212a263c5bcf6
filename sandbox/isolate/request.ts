import type { ClientOperation } from '../protocol/contract.ts'
import { placeAt, type CallSite } from './call-site.ts'
import { toJsonText, type Refuse } from './json-text.ts'
import {
  encode,
  hasOwn,
  indexIn,
  isObject,
  keys,
  NativeTypeError,
  parse,
  sliceText,
  stringify,
  toText,
} from './primordials.ts'

/**
 * Builds the text of the `HostCall` for an operation with this input. Path parameters are taken from the input; the
 * remaining fields become the query of a GET or DELETE, and the body otherwise.
 *
 * @param scope the card of a flow that makes the call, if one does
 * @throws TypeError, with the stack of the call's site
 */
export function requestText(
  { name, method, path }: ClientOperation,
  input: unknown,
  site: CallSite,
  scope = '',
): string {
  const refuse: Refuse = (reason, own) =>
    own === undefined
      ? misuse(site, `The argument of client.${name} cannot be converted to JSON: ${reason}`)
      : own.thrown
  const text = isObject(input) ? toJsonText(input, 'argument', refuse) : input === undefined ? '{}' : ''
  if (text[0] !== '{') throw misuse(site, `The argument of client.${name} must be an object`)
  const hasQuery = method === 'GET' || method === 'DELETE'
  const scoped = scope === '' ? '' : `"scope":${stringify(scope)},`
  const start = `{${scoped}"method":${stringify(method)},"path":`
  if (indexIn(path, '{') === -1 && !hasQuery) return `${start}${stringify(path)},"body":${text}}`

  const rest = parse(text) as Record<string, unknown>
  const filled = fillPath(name, path, rest, site)
  const field = hasQuery ? 'query' : 'body'
  const fieldText = hasQuery && keys(rest).length === 0 ? '' : `,"${field}":${stringify(rest)}`
  return `${start}${stringify(filled)}${fieldText}}`
}

/** Replaces each `{name}` by the input's value of that name, and removes that value from the input. */
function fillPath(operation: string, path: string, input: Record<string, unknown>, site: CallSite): string {
  let filled = ''
  let start = 0
  for (let open = indexIn(path, '{'); open !== -1; open = indexIn(path, '{', start)) {
    const close = indexIn(path, '}', open)
    const parameter = sliceText(path, open + 1, close)
    const value = hasOwn(input, parameter) ? input[parameter] : undefined
    if (value === undefined || value === null || value === '' || isObject(value)) {
      throw misuse(site, `client.${operation} needs ${parameter}, which is part of its path`)
    }
    delete input[parameter]
    filled += sliceText(path, start, open) + encodeSegment(toText(value))
    start = close + 1
  }
  return filled + sliceText(path, start)
}

function misuse(site: CallSite, message: string): Error {
  return placeAt(site, 'TypeError', new NativeTypeError(message))
}

/** A segment of dots alone would move up the path. */
function encodeSegment(value: string): string {
  if (value === '.') return '%2E'
  return value === '..' ? '%2E%2E' : encode(value)
}
