import type {
  FetchAnswer,
  FetchConnection,
  FetchFailure,
  FetchRequest,
  FetchStream,
  Json,
  Limits,
  LogLine,
  RunRequest,
  SandboxLog,
  TlsOptions,
} from '../protocol/contract.ts'
import { parseUntrustedJson } from '../protocol/parse-json.ts'
import { secretRedactor } from '../protocol/redact-secrets.ts'
import { tooManyConnections } from '../protocol/too-many-connections.ts'
import { maxCaCharacters, maxTlsCharacters } from '../protocol/units.ts'
import { RequestContent, type ContentPart } from './request-content.ts'
import type { RunBudget } from './run-budget.ts'
import type { RunStreams, StreamEnd } from './run-streams.ts'

const pathCharacters = 300

/** The result of a request, as in the frame `fetched`. */
interface FetchedTexts {
  answer: string
  body: string
}

/** A request as it arrives: of a body that comes in parts, only the size may be known. */
type RequestText = Omit<FetchRequest, 'content'> & {
  content?: { bytes?: number }
  /** The connection that a connection continues with TLS, by its name. */
  secures?: string
}

interface InFlight {
  /** Undefined when the text is not a valid request. */
  request: RequestText | undefined
  controller: AbortController
  startedAt: number
  /** The connection that it continues with TLS. */
  former: FetchConnection | undefined
  /** Whether it is a connection beyond the number of open ones. */
  isRefused: boolean
}

/** A connection that is open in one direction or both. */
interface OpenConnection {
  connection: FetchConnection
  /** Whether the code sends no more. */
  isSent: boolean
  /** Whether the server sends no more. */
  isReceived: boolean
}

export interface FetchesOptions {
  /** Limits of the run tree. */
  limits: Limits
  budget: RunBudget
  log: (line: LogLine) => void
  report: SandboxLog
  /** The streams that deliver bodies in parts. */
  streams: RunStreams
}

/** The outbound requests of one run, from the worker's side. Each writes a log line. */
export class RunFetches {
  readonly #run: RunRequest
  readonly #options: FetchesOptions
  readonly #redact: (text: string) => string
  readonly #inFlight = new Map<string, InFlight>()
  /** All that have been used: of two requests with one name, the former could be neither read nor closed. */
  readonly #names = new Set<string>()
  /** Kept when the request is over, because parts may still be in transit. */
  readonly #contents = new Map<string, RequestContent>()
  readonly #connections = new Map<string, OpenConnection>()
  /** The names of the connections that count as open: also those that are about to be. */
  readonly #counted = new Set<string>()
  /** Answers that are read in parts, and have not ended. */
  #streamed = 0

  constructor(run: RunRequest, options: FetchesOptions) {
    this.#run = run
    this.#options = options
    this.#redact = secretRedactor(run.bundle.environment)
  }

  /** Admits a request, given as JSON, which is then in flight. False when the run may not make it. */
  begin(name: string, text: string): boolean {
    const { fetchCharacters, fetchesAtOnce } = this.#options.limits
    if (text.length > fetchCharacters || this.#inFlight.size >= fetchesAtOnce || this.#names.has(name)) return false
    if (!this.#options.budget.takeFetch()) return false
    this.#names.add(name)
    const request = toFetchRequest(text)
    const former = request?.secures === undefined ? undefined : this.#detach(request.secures)
    const isRefused = request?.method === 'CONNECT' && !this.#count(name)
    const controller = new AbortController()
    this.#inFlight.set(name, { request, controller, startedAt: performance.now(), former, isRefused })
    return true
  }

  /**
   * Makes a request that is in flight. Never rejects.
   *
   * @param wantParts asks the process for so many parts of its body
   */
  async make(name: string, wantParts: (parts: number) => void): Promise<FetchedTexts> {
    const inFlight = this.#inFlight.get(name)
    if (inFlight === undefined) return toTexts({ failure: 'aborted', message: 'The request was aborted' })
    const { request } = inFlight
    if (request === undefined || inFlight.isRefused) {
      this.#inFlight.delete(name)
      if (request) return toTexts(tooManyConnections(this.#options.limits))
      return toTexts({ failure: 'invalid', message: 'The request cannot be read' })
    }
    const { content: size, secures: _secures, ...rest } = request
    // Without a free stream, the body is delivered whole.
    const streams = this.#streamed < this.#options.limits.fetchesAtOnce
    const parts = size && new RequestContent(wantParts)
    if (parts) this.#contents.set(name, parts)
    const sent = { ...rest, streams, ...(parts && { content: { ...size, parts } }) }
    const answer = await this.#answerOf(sent, inFlight)
    if ('secure' in answer) this.#connections.set(name, { connection: answer, isSent: false, isReceived: false })
    else {
      parts?.close()
      this.#release(name)
    }
    const isWanted = this.#inFlight.get(name) === inFlight
    if (isWanted) this.#inFlight.delete(name)
    if ('parts' in answer) return this.#stream(name, inFlight, answer)
    if (isWanted) this.#logLine(inFlight, 'failure' in answer ? `failed: ${answer.failure}` : `${answer.status}`)
    return toTexts(answer)
  }

  /** The log line is written when the last part has been sent. */
  #stream(name: string, inFlight: InFlight, { status, statusText, url, headers, parts }: FetchStream): FetchedTexts {
    const { controller } = inFlight
    const head = { status, statusText, url, headers }
    const isConnection = this.#connections.has(name)
    if (!isConnection) this.#streamed += 1
    const ended = (how: StreamEnd) => {
      const wasAborted = controller.signal.aborted
      if (!isConnection) this.#streamed -= 1
      // The code may still send after the end of the server.
      else if (how === 'complete') this.#endHalf(name, 'isReceived')
      else if (typeof how === 'string') this.#close(name)
      else this.#forget(name)
      if (!isConnection || typeof how !== 'string') {
        this.#contents.get(name)?.close()
        controller.abort()
      }
      if (!wasAborted) this.#logLine(inFlight, isConnection ? describeClose(how) : describeEnd(head.status, how))
    }
    this.#options.streams.offer(streamName(name), parts, ended)
    if (controller.signal.aborted) this.#options.streams.cancel(streamName(name))
    return { answer: JSON.stringify({ ...head, streams: 1 }), body: '' }
  }

  /** Receives a part of a request's body. False when it was not asked for. */
  receivePart({ fetch, ...part }: ContentPart & { fetch: string }): boolean {
    const isReceived = this.#contents.get(fetch)?.receive(part) ?? false
    if (isReceived && part.state !== 'part') this.#endHalf(fetch, 'isSent')
    return isReceived
  }

  /** Aborts a request. The log line is written at once: the run may be over when the request has ended. */
  abort(name: string): void {
    const inFlight = this.#inFlight.get(name)
    // The answer may have begun to stream.
    if (inFlight === undefined) {
      this.#options.streams.cancel(streamName(name))
      return this.#close(name)
    }
    this.#inFlight.delete(name)
    this.#release(name)
    this.#contents.get(name)?.close()
    inFlight.controller.abort()
    inFlight.former?.close()
    this.#logLine(inFlight, 'failed: aborted')
  }

  abortAll(): void {
    for (const name of this.#inFlight.keys()) this.abort(name)
    for (const name of this.#connections.keys()) this.#close(name)
  }

  /** Closes a connection, if it is one, after the parts that have come. */
  #close(name: string): void {
    const connection = this.#forget(name)
    if (!connection) return
    this.#contents.get(name)?.finish()
    connection.close()
  }

  /** Closes a connection, if it is one, when both of its directions have ended: the peer may still take the last bytes. */
  #endHalf(name: string, half: 'isSent' | 'isReceived'): void {
    const open = this.#connections.get(name)
    if (!open) return
    open[half] = true
    if (open.isSent && open.isReceived) this.#close(name)
  }

  /** Takes a connection from those that are open, so that another one continues it. */
  #detach(name: string): FetchConnection | undefined {
    const connection = this.#forget(name)
    if (connection) this.#contents.get(name)?.close()
    return connection
  }

  #forget(name: string): FetchConnection | undefined {
    const open = this.#connections.get(name)
    this.#connections.delete(name)
    this.#release(name)
    return open?.connection
  }

  /** Counts a connection. False when too many are open. */
  #count(name: string): boolean {
    if (!this.#options.budget.takeConnection()) return false
    this.#counted.add(name)
    return true
  }

  #release(name: string): void {
    if (this.#counted.delete(name)) this.#options.budget.releaseConnection()
  }

  async #answerOf(
    request: FetchRequest,
    { request: asked, controller: { signal }, former }: InFlight,
  ): Promise<FetchAnswer | FetchStream | FetchConnection | FetchFailure> {
    const { fetch } = this.#run
    const { limits, budget, report } = this.#options
    if (!budget.takeEventFetch()) {
      former?.close()
      return { failure: 'limit', message: `An event may make at most ${limits.fetches} requests` }
    }
    if (!fetch) {
      const message = `${new URL(request.url).host} cannot be requested: outbound requests are disabled here`
      return { failure: 'forbidden', message }
    }
    try {
      if (asked?.secures === undefined) return await fetch(request, signal)
      if (former) return await former.secure(request, signal)
      return { failure: 'aborted', message: 'The connection to be secured is closed' }
    } catch (error) {
      report('error', 'A host function rejected instead of resolving to an answer', { run: this.#run.id, error })
      return { failure: 'internal', message: 'The platform could not send the request' }
    }
  }

  #logLine({ request, startedAt }: InFlight, how: string): void {
    if (request === undefined) return
    const { host, pathname } = new URL(request.url)
    // Some services put the caller's token into the path. Redact before cutting: half a token would not be recognised.
    const path = this.#redact(pathname).replace(signedSegment, '$1***')
    const where = `${host}${path.slice(0, pathCharacters)}`
    this.#options.log({
      timestamp: new Date().toISOString(),
      level: how.startsWith('failed') ? 'warn' : 'info',
      message: `fetch ${request.method} ${where} ${how}, ${Math.round(performance.now() - startedAt)} ms`,
    })
  }
}

/** Of an address of the platform's files: the signature is the credential of the content, which readers of logs may not have. */
const signedSegment = /(\/files\/(?:upload\/)?[cu]\.)[^/]+/

function streamName(fetch: string): string {
  return `fetch/${fetch}`
}

function describeEnd(status: number, how: StreamEnd): string {
  if (how === 'complete') return `${status}`
  return typeof how === 'string' ? `${status}, not read to its end` : `failed: ${how.failure}`
}

function describeClose(how: StreamEnd): string {
  return typeof how === 'string' ? 'closed' : `failed: ${how.failure}`
}

function toTexts(answer: FetchAnswer | FetchFailure): FetchedTexts {
  if ('failure' in answer) return { answer: JSON.stringify(answer), body: '' }
  const { body, ...head } = answer
  return { answer: JSON.stringify(head), body }
}

/** Reads only the expected fields: the text is untrusted. */
function toFetchRequest(text: string): RequestText | undefined {
  try {
    const given = parseUntrustedJson(text) as Record<string, Json | undefined>
    const { method, url, headers, redirect, body, isBase64, content, tls, secures } = given
    if (typeof method !== 'string' || !/^[A-Z]{1,20}$/.test(method)) return undefined
    if (typeof url !== 'string' || !URL.canParse(url)) return undefined
    if (redirect !== 'follow' && redirect !== 'error' && redirect !== 'manual') return undefined
    return {
      method,
      url,
      headers: toHeaders(headers),
      redirect,
      ...(typeof body === 'string' && { body, isBase64: isBase64 === true }),
      ...(typeof content === 'object' && content !== null && { content: toSize(content) }),
      ...(typeof tls === 'object' && tls !== null && { tls: toTls(tls) }),
      ...(method === 'CONNECT' && typeof secures === 'string' && { secures }),
    }
  } catch {
    return undefined
  }
}

function toSize(content: object): { bytes?: number } {
  const { bytes } = content as { bytes?: unknown }
  return Number.isSafeInteger(bytes) && (bytes as number) >= 0 ? { bytes: bytes as number } : {}
}

/** The module `tls` refuses longer texts. One that is left out would protect less. @throws Error */
function toTls(given: object): TlsOptions {
  const { rejectUnauthorized, ...texts } = given as Record<string, unknown>
  const options: TlsOptions = rejectUnauthorized === false ? { rejectUnauthorized } : {}
  for (const name of ['servername', 'ca', 'ciphers', 'minVersion', 'maxVersion'] as const) {
    const text = texts[name]
    if (text === undefined) continue
    if (typeof text !== 'string' || text.length > (name === 'ca' ? maxCaCharacters : maxTlsCharacters))
      throw new Error(`${name} is not a text, or too long`)
    options[name] = text
  }
  return options
}

function toHeaders(given: Json | undefined): Record<string, string> {
  const entries = typeof given === 'object' && given !== null ? Object.entries(given) : []
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
