import { readCredentials, readFileHost, readHost, readPort, skipSlashes } from './parse-authority.ts'
import { readFragment, readOpaquePath, readPath, readPathStart, readQuery } from './parse-path.ts'
import {
  readFile,
  readFileSlash,
  readPathOrAuthority,
  readRelative,
  readRelativeSlash,
  readScheme,
  readWithoutScheme,
} from './parse-scheme.ts'
import type { Parsing, State, Step } from './parsing.ts'
import type { UrlRecord } from './record.ts'

const states: Record<State, (parsing: Parsing) => Step> = {
  'scheme start': readScheme,
  scheme: readScheme,
  'no scheme': readWithoutScheme,
  'path or authority': readPathOrAuthority,
  relative: readRelative,
  'relative slash': readRelativeSlash,
  'special authority': skipSlashes,
  authority: readCredentials,
  host: readHost,
  port: readPort,
  file: readFile,
  'file slash': readFileSlash,
  'file host': readFileHost,
  'path start': readPathStart,
  path: readPath,
  'opaque path': readOpaquePath,
  query: readQuery,
  fragment: readFragment,
}

/** Parses a URL as browsers do; undefined when it is invalid. */
export function parseUrl(text: string, base?: UrlRecord): UrlRecord | undefined {
  // oxlint-disable-next-line no-control-regex -- that is what is trimmed.
  const input = text.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '')
  const url = emptyUrl()
  return run({ input: withoutBreaks(input), url, base, part: undefined, at: 0 }, 'scheme start') ? url : undefined
}

/**
 * Replaces one part of a URL by parsing the text from the given state on. Leaves the URL unchanged when the text is
 * invalid.
 */
export function replacePart(url: UrlRecord, text: string, part: State | 'hostname'): void {
  const changed = { ...url, path: typeof url.path === 'string' ? url.path : [...url.path] }
  const first = part === 'hostname' ? 'host' : part
  const parsing: Parsing = { input: withoutBreaks(text), url: changed, base: undefined, part, at: 0 }
  if (run(parsing, first)) Object.assign(url, changed)
}

/** Runs the states from the first one; false on failure. */
function run(parsing: Parsing, first: State): boolean {
  for (let step: Step = first; ;) {
    if (step === 'stop') return true
    if (step === 'failure') return false
    step = states[step](parsing)
  }
}

function withoutBreaks(text: string): string {
  return text.replace(/[\t\n\r]/g, '')
}

function emptyUrl(): UrlRecord {
  return {
    scheme: '',
    username: '',
    password: '',
    host: null,
    port: null,
    path: [],
    query: null,
    fragment: null,
  }
}
