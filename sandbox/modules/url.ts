/** The functions of Node's `url` that the package lacks. */

import { codedError, invalidType } from '../prelude/node-errors.ts'

export function fileURLToPath(given: string | URL): string {
  if (typeof given !== 'string' && !(given instanceof URL)) {
    throw invalidType('path', 'of type string or an instance of URL', given)
  }
  const { protocol, pathname, hostname } = new URL(given)
  if (protocol !== 'file:') throw typeError('ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file')
  if (hostname !== '') {
    throw typeError('ERR_INVALID_FILE_URL_HOST', 'File URL host must be "localhost" or empty on linux')
  }
  if (/%2f/i.test(pathname)) {
    throw typeError('ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters')
  }
  return decodeURIComponent(pathname)
}

/** Relative paths begin at the folder of the process, which is `/`. */
export function pathToFileURL(path: string): URL {
  if (typeof path !== 'string') throw invalidType('path', 'of type string', path)
  const whole = `/${path}`.replaceAll(/\/{2,}/g, '/')
  const escaped = whole.replaceAll(/[%\\\n\r\t?#[\]^|~]/g, escapeSign)
  return new URL(`file://${escaped}`)
}

function escapeSign(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`
}

/** A URL as the options of `http.request`. */
export interface UrlOptions {
  protocol: string
  hostname: string
  host: string
  port?: number
  path: string
  pathname: string
  search: string
  hash: string
  href: string
  auth?: string
}

export function urlToHttpOptions(url: URL): UrlOptions {
  const { protocol, hostname, port, pathname, search, hash, href, username, password } = url
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return {
    protocol,
    hostname: host,
    host,
    hash,
    search,
    pathname,
    path: `${pathname}${search}`,
    href,
    ...(port !== '' && { port: Number(port) }),
    ...((username !== '' || password !== '') && {
      auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
    }),
  }
}

function typeError(code: string, message: string): Error {
  return codedError(code, message, TypeError)
}
