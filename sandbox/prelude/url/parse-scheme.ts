import { shorten } from './parse-path.ts'
import { isSlash, restOf, type Parsing, type Step } from './parsing.ts'
import { isSpecial, usualPort } from './record.ts'

/** The parser's states for schemes, and for parts inherited from the base; each returns the next one. */

const startsWithDriveLetter = /^[A-Za-z][:|]([/\\?#]|$)/

export function readScheme(parsing: Parsing): Step {
  const url = parsing.url
  const found = /^([A-Za-z][A-Za-z\d+.-]*):/.exec(parsing.part === undefined ? restOf(parsing) : `${restOf(parsing)}:`)
  if (found === null) return parsing.part === undefined ? 'no scheme' : 'failure'
  const scheme = found[1]!.toLowerCase()
  if (parsing.part !== undefined) return replaceScheme(parsing, scheme)
  url.scheme = scheme
  parsing.at += found[0].length
  if (scheme === 'file') return 'file'
  if (isSpecial(url)) {
    if (parsing.base?.scheme === scheme && !restOf(parsing).startsWith('//')) return 'relative'
    return 'special authority'
  }
  if (restOf(parsing).startsWith('/')) {
    parsing.at += 1
    return 'path or authority'
  }
  url.path = ''
  return 'opaque path'
}

function replaceScheme(parsing: Parsing, scheme: string): Step {
  const url = parsing.url
  if (isSpecial(url) !== isSpecial({ ...url, scheme })) return 'failure'
  if (scheme === 'file' && (url.username !== '' || url.password !== '' || url.port !== null)) return 'failure'
  if (url.scheme === 'file' && url.host === '') return 'failure'
  url.scheme = scheme
  if (url.port === usualPort(scheme)) url.port = null
  return 'stop'
}

export function readWithoutScheme(parsing: Parsing): Step {
  const base = parsing.base
  if (base === undefined) return 'failure'
  if (typeof base.path !== 'string') return base.scheme === 'file' ? 'file' : 'relative'
  if (!restOf(parsing).startsWith('#')) return 'failure'
  Object.assign(parsing.url, base)
  parsing.at += 1
  return 'fragment'
}

export function readPathOrAuthority(parsing: Parsing): Step {
  if (!restOf(parsing).startsWith('/')) return 'path'
  parsing.at += 1
  return 'authority'
}

export function readRelative(parsing: Parsing): Step {
  const { scheme } = parsing.base!
  parsing.url.scheme = scheme
  if (!isSlash(parsing)) return takeOverBase(parsing)
  parsing.at += 1
  return 'relative slash'
}

export function readRelativeSlash(parsing: Parsing): Step {
  if (isSlash(parsing)) {
    parsing.at += 1
    return isSpecial(parsing.url) ? 'special authority' : 'authority'
  }
  const { username, password, host, port } = parsing.base!
  Object.assign(parsing.url, { username, password, host, port })
  return 'path'
}

export function readFile(parsing: Parsing): Step {
  const url = parsing.url
  url.scheme = 'file'
  url.host = ''
  if (isSlash(parsing)) {
    parsing.at += 1
    return 'file slash'
  }
  if (parsing.base?.scheme !== 'file') return 'path'
  const { host, path, query } = parsing.base
  Object.assign(url, { host, path: [...(path as string[])], query })
  const step = readAfterBasePath(parsing)
  if (step !== 'path') return step
  if (startsWithDriveLetter.test(restOf(parsing))) url.path = []
  else shorten(parsing)
  return 'path'
}

export function readFileSlash(parsing: Parsing): Step {
  if (isSlash(parsing)) {
    parsing.at += 1
    return 'file host'
  }
  if (parsing.base?.scheme === 'file') {
    parsing.url.host = parsing.base.host
    const [drive] = parsing.base.path
    const keepsDrive = drive !== undefined && /^[A-Za-z]:$/.test(drive) && !startsWithDriveLetter.test(restOf(parsing))
    if (keepsDrive) (parsing.url.path as string[]).push(drive)
  }
  return 'path'
}

/** Copies the parts of the base that the text does not replace. */
function takeOverBase(parsing: Parsing): Step {
  const base = parsing.base!
  const { username, password, host, port, query } = base
  Object.assign(parsing.url, { username, password, host, port, path: [...(base.path as string[])], query })
  const step = readAfterBasePath(parsing)
  if (step !== 'path') return step
  shorten(parsing)
  return 'path'
}

function readAfterBasePath(parsing: Parsing): Step {
  const [next] = restOf(parsing)
  if (next === undefined) return 'stop'
  if (next !== '#') parsing.url.query = null
  if (next !== '#' && next !== '?') return 'path'
  parsing.at += 1
  return next === '#' ? 'fragment' : 'query'
}
