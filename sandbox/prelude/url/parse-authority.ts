import { parseHost } from './host.ts'
import { driveLetter, isSlash, restOf, takeUntil, type Parsing, type Step } from './parsing.ts'
import { percentEncode, userInfoSet } from './percent.ts'
import { isSpecial, usualPort } from './record.ts'

/** The parser's states between scheme and path; each returns the next one. */

export function skipSlashes(parsing: Parsing): Step {
  while (/^[/\\]/.test(restOf(parsing))) parsing.at += 1
  return 'authority'
}

export function readCredentials(parsing: Parsing): Step {
  const end = isSpecial(parsing.url) ? /[/\\?#]/ : /[/?#]/
  const { index } = end.exec(restOf(parsing)) ?? { index: restOf(parsing).length }
  const authority = restOf(parsing).slice(0, index)
  const at = authority.lastIndexOf('@')
  if (at === -1) return 'host'
  if (at === authority.length - 1) return 'failure'
  const [, username, password] = /^([^:]*):?(.*)$/s.exec(authority.slice(0, at))!
  parsing.url.username = percentEncode(username!, userInfoSet)
  parsing.url.password = percentEncode(password!, userInfoSet)
  parsing.at += at + 1
  return 'host'
}

export function readHost(parsing: Parsing): Step {
  const url = parsing.url
  if (parsing.part !== undefined && url.scheme === 'file') return 'file host'
  const end = isSpecial(url) ? /[/\\?#]/ : /[/?#]/
  const text = takeHost(parsing, end)
  const hasPort = restOf(parsing).startsWith(':')
  if (hasPort && (text === '' || parsing.part === 'hostname')) return 'failure'
  if (text === '' && isSpecial(url)) return 'failure'
  const losesHost = text === '' && (url.username !== '' || url.password !== '' || url.port !== null)
  if (parsing.part !== undefined && losesHost) return 'failure'
  const host = text === '' ? '' : parseHost(text, isSpecial(url))
  if (host === undefined) return 'failure'
  url.host = host
  if (hasPort) {
    parsing.at += 1
    return 'port'
  }
  return parsing.part === undefined ? 'path start' : 'stop'
}

/** Colons in brackets belong to an address. */
function takeHost(parsing: Parsing, end: RegExp): string {
  const start = parsing.at
  let isInBrackets = false
  for (; parsing.at < parsing.input.length; parsing.at += 1) {
    const character = parsing.input[parsing.at]!
    if (end.test(character) || (character === ':' && !isInBrackets)) break
    if (character === '[' || character === ']') isInBrackets = character === '['
  }
  return parsing.input.slice(start, parsing.at)
}

export function readPort(parsing: Parsing): Step {
  const url = parsing.url
  const isPart = parsing.part !== undefined
  const digits = /^\d*/.exec(restOf(parsing))![0]
  parsing.at += digits.length
  if (!isPart && restOf(parsing) !== '' && !isSlash(parsing) && !/^[?#]/.test(restOf(parsing))) return 'failure'
  if (digits !== '') {
    const port = Number(digits)
    // Setting `host` with an invalid port sets the host only.
    if (port > 65_535) return parsing.part === 'host' ? 'stop' : 'failure'
    url.port = port === usualPort(url.scheme) ? null : port
  }
  return isPart ? 'stop' : 'path start'
}

export function readFileHost(parsing: Parsing): Step {
  const start = parsing.at
  const text = takeUntil(parsing, /[/\\?#]/)
  const isPart = parsing.part !== undefined
  if (!isPart && driveLetter.test(text)) {
    parsing.at = start
    return 'path'
  }
  const host = text === '' ? '' : parseHost(text, true)
  if (host === undefined) return 'failure'
  parsing.url.host = host === 'localhost' ? '' : host
  return isPart ? 'stop' : 'path start'
}
