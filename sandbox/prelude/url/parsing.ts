import { isSpecial, type UrlRecord } from './record.ts'

/** The parser's states, by their names in the URL Standard. */
export type State =
  | 'scheme start'
  | 'scheme'
  | 'no scheme'
  | 'path or authority'
  | 'relative'
  | 'relative slash'
  | 'special authority'
  | 'authority'
  | 'host'
  | 'port'
  | 'file'
  | 'file slash'
  | 'file host'
  | 'path start'
  | 'path'
  | 'opaque path'
  | 'query'
  | 'fragment'

/** The result of a state: the next state, the end, or a failure. */
export type Step = State | 'stop' | 'failure'

/** A parse in progress. */
export interface Parsing {
  readonly input: string
  readonly url: UrlRecord
  readonly base: UrlRecord | undefined
  /** The part to parse, if it is not a whole URL. */
  readonly part: State | 'hostname' | undefined
  /** The position in the input up to which it has been read. */
  at: number
}

export const driveLetter = /^[A-Za-z][:|]$/

export function restOf({ input, at }: Parsing): string {
  return input.slice(at)
}

/** Reads up to the first match of `end`. */
export function takeUntil(parsing: Parsing, end: RegExp): string {
  const rest = restOf(parsing)
  const { index } = end.exec(rest) ?? { index: rest.length }
  parsing.at += index
  return rest.slice(0, index)
}

export function isSlash({ input, at, url }: Parsing): boolean {
  return input[at] === '/' || (input[at] === '\\' && isSpecial(url))
}
