import type {
  FetchAnswer,
  FetchFailure,
  FetchRequest,
  FetchStream,
  Json,
  Limits,
  LogLine,
  Run,
  SandboxLog,
} from '../protocol/contract.ts'
import type { FetchedTexts } from './handle.ts'
import { parseUntrustedJson } from '../protocol/parse-json.ts'
import type { RunStreams, StreamEnd } from './run-streams.ts'
import { secretRedactor } from '../protocol/redact-secrets.ts'

const pathCharacters = 300

interface InFlight {
  request: FetchRequest
  controller: AbortController
  startedAt: number
}

export interface FetchesOptions {
  /** Of the run's runTree. */
  limits: Limits
  log: (line: LogLine) => void
  report: SandboxLog
  /** Where bodies go that come in parts. */
  streams: RunStreams
}

/** The requests of one run to the world outside, seen from the worker: each leaves a line in the log. */
export class RunFetches {
  readonly #run: Run
  readonly #limits: Limits
  readonly #log: (line: LogLine) => void
  readonly #report: SandboxLog
  readonly #star: (text: string) => string
  readonly #streams: RunStreams
  readonly #inFlight = new Map<string, InFlight>()

  constructor(run: Run, { limits, log, report, streams }: FetchesOptions) {
    this.#run = run
    this.#limits = limits
    this.#log = log
    this.#report = report
    this.#streams = streams
    this.#star = secretRedactor(run.bundle.environment)
  }

  /** Makes a request that code asks for, in JSON. Never rejects. */
  async make(name: string, text: string): Promise<FetchedTexts> {
    const request = toFetchRequest(text)
    if (request === undefined) return toTexts({ failure: 'invalid', message: 'The request cannot be read' })
    // The kernel keeps both of these; one that was tampered with may not.
    if (this.#inFlight.has(name) || this.#inFlight.size >= this.#limits.fetchesAtOnce) {
      return toTexts({ failure: 'limit', message: `A run may make ${this.#limits.fetchesAtOnce} requests at once` })
    }
    const controller = new AbortController()
    const inFlight = { request, controller, startedAt: performance.now() }
    this.#inFlight.set(name, inFlight)
    // A body that comes whole needs no place among those that stream.
    if (this.#streams.open >= this.#limits.fetchesAtOnce) delete request.streams
    const answer = await this.#answerOf(request, controller.signal)
    const isWanted = this.#inFlight.get(name) === inFlight
    if (isWanted) this.#inFlight.delete(name)
    if ('parts' in answer) return this.#stream(name, inFlight, answer)
    if (isWanted) this.#logLine(inFlight, 'failure' in answer ? `failed: ${answer.failure}` : `${answer.status}`)
    return toTexts(answer)
  }

  /** Its line of the log is written when the last part has crossed. */
  #stream(name: string, inFlight: InFlight, { parts, ...head }: FetchStream): FetchedTexts {
    const { controller } = inFlight
    const ended = (how: StreamEnd) => {
      const wasTakenBack = controller.signal.aborted
      controller.abort()
      if (!wasTakenBack) this.#logLine(inFlight, describeEnd(head.status, how))
    }
    this.#streams.offer(streamName(name), parts, ended)
    if (controller.signal.aborted) this.#streams.cancel(streamName(name))
    return { answer: JSON.stringify({ ...head, streams: 1 }), body: '' }
  }

  /** Takes a request back. That is said at once: the run may be over when the last of it has ended. */
  abort(name: string): void {
    const inFlight = this.#inFlight.get(name)
    // Its answer may just have begun to stream.
    if (inFlight === undefined) return void this.#streams.cancel(streamName(name))
    this.#inFlight.delete(name)
    inFlight.controller.abort()
    this.#logLine(inFlight, 'failed: aborted')
  }

  abortAll(): void {
    for (const name of this.#inFlight.keys()) this.abort(name)
  }

  async #answerOf(request: FetchRequest, signal: AbortSignal): Promise<FetchAnswer | FetchStream | FetchFailure> {
    const { fetch } = this.#run
    if (!fetch) {
      const message = `${new URL(request.url).host} can not be reached from here: nothing outside of the platform can`
      return { failure: 'forbidden', message }
    }
    try {
      return await fetch(request, signal)
    } catch (error) {
      this.#report('error', 'A host function rejected; it has to resolve to an answer', { run: this.#run.id, error })
      return { failure: 'internal', message: 'The platform could not make the request' }
    }
  }

  #logLine({ request, startedAt }: InFlight, how: string): void {
    const { host, pathname } = new URL(request.url)
    // Some services have callers put their token into the path; half of it would not be found any more.
    const where = `${host}${this.#star(pathname).slice(0, pathCharacters)}`
    this.#log({
      timestamp: new Date().toISOString(),
      level: how.startsWith('failed') ? 'warn' : 'info',
      message: `fetch ${request.method} ${where} ${how}, ${Math.round(performance.now() - startedAt)} ms`,
    })
  }
}

function streamName(fetch: string): string {
  return `fetch/${fetch}`
}

function describeEnd(status: number, how: StreamEnd): string {
  if (how === 'complete') return `${status}`
  return how === 'cancelled' ? `${status}, not read to its end` : `failed: ${how.failure}`
}

function toTexts(answer: FetchAnswer | FetchFailure): FetchedTexts {
  if ('failure' in answer) return { answer: JSON.stringify(answer), body: '' }
  const { body, ...head } = answer
  return { answer: JSON.stringify(head), body }
}

/** Takes nothing but the expected: the text may have been made by anybody. */
function toFetchRequest(text: string): FetchRequest | undefined {
  try {
    const given = parseUntrustedJson(text) as Record<string, Json | undefined>
    const { method, url, headers, redirect, body, isBase64, streams } = given
    if (typeof method !== 'string' || !/^[A-Z]{1,20}$/.test(method)) return undefined
    if (typeof url !== 'string' || !URL.canParse(url)) return undefined
    if (redirect !== 'follow' && redirect !== 'error' && redirect !== 'manual') return undefined
    return {
      method,
      url,
      headers: toHeaders(headers),
      redirect,
      ...(streams === true && { streams }),
      ...(typeof body === 'string' && { body, isBase64: isBase64 === true }),
    }
  } catch {
    return undefined
  }
}

function toHeaders(given: Json | undefined): Record<string, string> {
  const entries = typeof given === 'object' && given !== null ? Object.entries(given) : []
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}
