import { driveLetter, isSlash, restOf, takeUntil, type Parsing, type Step } from './parsing.ts'
import { controlSet, fragmentSet, pathSet, percentEncode, querySet, specialQuerySet } from './percent.ts'
import { isSpecial } from './record.ts'

/** The parser's states from the path on; each returns the next one. */

const singleDot = /^(\.|%2e)$/i
const doubleDot = /^(\.|%2e){2}$/i

export function readPathStart(parsing: Parsing): Step {
  const isPart = parsing.part !== undefined
  if (isSpecial(parsing.url)) {
    if (isSlash(parsing)) parsing.at += 1
    return 'path'
  }
  const [next] = restOf(parsing)
  if (!isPart && (next === '?' || next === '#')) {
    parsing.at += 1
    return next === '?' ? 'query' : 'fragment'
  }
  if (next !== undefined) {
    if (next === '/') parsing.at += 1
    return 'path'
  }
  if (isPart && parsing.url.host === null) (parsing.url.path as string[]).push('')
  return 'stop'
}

/** Reads all segments of a path. */
export function readPath(parsing: Parsing): Step {
  const url = parsing.url
  const path = url.path as string[]
  const isPart = parsing.part !== undefined
  const slashes = isSpecial(url) ? '/\\\\' : '/'
  const end = new RegExp(isPart ? `[${slashes}]` : `[${slashes}?#]`)
  for (;;) {
    const segment = percentEncode(takeUntil(parsing, end), pathSet)
    const isLast = !isSlash(parsing)
    if (doubleDot.test(segment)) {
      shorten(parsing)
      if (isLast) path.push('')
    } else if (singleDot.test(segment)) {
      if (isLast) path.push('')
    } else {
      const isDrive = url.scheme === 'file' && path.length === 0 && driveLetter.test(segment)
      path.push(isDrive ? `${segment[0]}:` : segment)
    }
    if (isLast) break
    parsing.at += 1
  }
  return readAfterPath(parsing)
}

function readAfterPath(parsing: Parsing): Step {
  const [next] = restOf(parsing)
  if (next === undefined) return 'stop'
  parsing.at += 1
  return next === '?' ? 'query' : 'fragment'
}

export function readOpaquePath(parsing: Parsing): Step {
  const text = percentEncode(takeUntil(parsing, /[?#]/), controlSet)
  // Parsing the URL again would trim a trailing space.
  parsing.url.path = restOf(parsing) === '' ? text : text.replace(/ $/, '%20')
  return readAfterPath(parsing)
}

export function readQuery(parsing: Parsing): Step {
  const text = takeUntil(parsing, parsing.part === undefined ? /#/ : /(?!)/)
  parsing.url.query = percentEncode(text, isSpecial(parsing.url) ? specialQuerySet : querySet)
  return readAfterPath(parsing)
}

export function readFragment(parsing: Parsing): Step {
  parsing.url.fragment = percentEncode(restOf(parsing), fragmentSet)
  return 'stop'
}

export function shorten(parsing: Parsing): void {
  const path = parsing.url.path as string[]
  if (parsing.url.scheme === 'file' && path.length === 1 && /^[A-Za-z]:$/.test(path[0]!)) return
  path.pop()
}
