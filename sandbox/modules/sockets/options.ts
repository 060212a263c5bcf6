import type { TlsOptions } from '../../protocol/contract.ts'
import { maxCaCharacters } from '../../protocol/units.ts'
import { codedError } from '../../prelude/node-errors.ts'
import { refuseOptions } from './refused-options.ts'

/** The options of `net.connect` and `tls.connect` that have an effect here. */
export interface ConnectOptions {
  host?: string
  port?: number | string
  path?: string
  timeout?: number
  allowHalfOpen?: boolean
  socket?: unknown
  servername?: string
  rejectUnauthorized?: boolean
  ca?: unknown
  ciphers?: unknown
  minVersion?: unknown
  maxVersion?: unknown
}

/** Merges the arguments of `connect`: options or a port, a host, further options, and a listener. */
export function toConnectOptions(values: unknown[]): { options: ConnectOptions; listener: (() => void) | undefined } {
  const given = Array.isArray(values[0]) ? (values[0] as unknown[]) : values
  const options: ConnectOptions = {}
  const [first] = given
  if (typeof first === 'number' || (typeof first === 'string' && /^\d+$/.test(first))) options.port = first
  else if (typeof first === 'string') options.path = first
  if (typeof given[1] === 'string') options.host = given[1]
  for (const value of given) if (typeof value === 'object' && value !== null) Object.assign(options, value)
  return { options, listener: given.find((value) => typeof value === 'function') as (() => void) | undefined }
}

/** The host and port of a connection, as in a URL. @throws Error with a code of Node's */
export function authorityOf({ host: given, port, path }: ConnectOptions): string {
  const host = textOf('host', given) || 'localhost'
  if (path !== undefined)
    throw codedError(
      'ERR_METHOD_NOT_IMPLEMENTED',
      'Isolates have no sockets of the file system: give a host and a port',
    )
  const number = Number(port)
  if (!Number.isInteger(number) || number < 0 || number > 65_535 || String(port ?? '').trim() === '') {
    const message = `Port should be >= 0 and < 65536. Received ${String(port)}.`
    throw codedError('ERR_SOCKET_BAD_PORT', message, RangeError)
  }
  return `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${number}`
}

/** @throws Error for what the platform cannot do */
export function toTlsOptions(options: ConnectOptions): TlsOptions {
  refuseOptions('tls', options)
  const { rejectUnauthorized, ca } = options
  const texts = (['servername', 'ciphers', 'minVersion', 'maxVersion'] as const).map(
    (name) => [name, textOf(name, options[name])] as const,
  )
  return {
    ...Object.fromEntries(texts.filter(([, text]) => text !== '')),
    ...(rejectUnauthorized === false && { rejectUnauthorized }),
    // As in Node, an empty list trusts no authority, and an empty text the public ones.
    ...(ca !== undefined && ca !== null && ca !== '' && { ca: toAuthorities(ca) }),
  }
}

function toAuthorities(ca: unknown): string {
  const texts = [ca].flat().map((value: unknown) => {
    if (typeof value === 'string') return value
    if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
    if (value instanceof ArrayBuffer) return Buffer.from(value).toString()
    const message = 'The "options.ca" property must be of type string or an instance of Buffer, TypedArray, or DataView'
    throw codedError('ERR_INVALID_ARG_TYPE', message, TypeError)
  })
  const all = texts.join('\n')
  if (all.length > maxCaCharacters)
    throw codedError('ERR_OUT_OF_RANGE', `ca has more than ${maxCaCharacters} characters, the maximum`, RangeError)
  return all
}

/** @throws TypeError for a value that is neither absent nor a text */
function textOf(option: string, value: unknown): string {
  if (value === undefined || value === null || typeof value === 'string') return value ?? ''
  throw codedError('ERR_INVALID_ARG_TYPE', `The "options.${option}" property must be of type string`, TypeError)
}
