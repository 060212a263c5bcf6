import { isSpecial, type UrlRecord } from './record.ts'

/** Where the parser is, by the names of the URL Standard. */
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

/** What a state says: which comes next, or that it is over, well or not. */
export type Step = State | 'stop' | 'failure'

/** A parse that is under way. */
export interface Parsing {
  readonly input: string
  readonly url: UrlRecord
  readonly base: UrlRecord | undefined
  /** The only part that is parsed, when it is not all of a URL. */
  readonly part: State | 'hostname' | undefined
  /** How far the input has been read. */
  at: number
}

export const driveLetter = /^[A-Za-z][:|]$/

export function restOf({ input, at }: Parsing): string {
  return input.slice(at)
}

/** Takes what comes before the first of these characters. */
export function takeUntil(parsing: Parsing, end: RegExp): string {
  const rest = restOf(parsing)
  const { index } = end.exec(rest) ?? { index: rest.length }
  parsing.at += index
  return rest.slice(0, index)
}

export function isSlash({ input, at, url }: Parsing): boolean {
  return input[at] === '/' || (input[at] === '\\' && isSpecial(url))
}
