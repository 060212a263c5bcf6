import type {
  Host,
  HostCall,
  HostReply,
  HostStream,
  Interruption,
  JsonObject,
  Limits,
  SandboxLog,
} from '../protocol/contract.ts'
import { parseUntrustedJson } from '../protocol/parse-json.ts'
import type { RunBudget } from './run-budget.ts'
import type { RunStreams, StreamEnd } from './run-streams.ts'

/** Above the size of any operation's reply; the isolate holds several copies of a reply. */
const replyCharacters = 8_000_000

/**
 * Words of a model in this time form one part. Code that shows each part makes a call for it, and an event has a limit of
 * calls: 20 in a second are smooth to the eye.
 */
const joinMilliseconds = 50

export interface CallsOptions {
  run: string
  host: Host
  limits: Limits
  budget: RunBudget
  report: SandboxLog
  /** The streams that deliver replies in parts. */
  streams: RunStreams
}

/** The calls of one run to the platform, from the worker's side. */
export class RunCalls {
  readonly #options: CallsOptions
  #inFlight = 0
  /** Calls in flight whose reply will be a stream. */
  #opening = 0

  constructor(options: CallsOptions) {
    this.#options = options
  }

  /** Admits a call, which is then in flight. False when the run may not make it. */
  begin(request: string): boolean {
    const { limits, budget } = this.#options
    if (request.length > limits.hostCallCharacters || this.#inFlight >= limits.hostCallsAtOnce) return false
    if (!budget.takeCall()) return false
    this.#inFlight += 1
    return true
  }

  /** Replies to a call that is in flight. Never rejects. */
  async answer(name: string, request: string): Promise<string | Interruption> {
    const { run, host, report } = this.#options
    let isOpening = false
    // Before the call costs something.
    const reserveStream = () => {
      if (!isOpening && !this.#hasRoomForStream) return false
      if (!isOpening) this.#opening += 1
      isOpening = true
      return true
    }
    try {
      const call = toHostCall(request)
      if (typeof call === 'string') return replyText(refusal(400, call))
      const reply = await host(call, reserveStream)
      if ('parts' in reply) return this.#stream(name, reply)
      return 'interrupted' in reply ? reply : replyText(reply)
    } catch (error) {
      report('error', 'A host function rejected instead of resolving to a reply', { run, error })
      return replyText(refusal(500, 'The platform could not answer'))
    } finally {
      this.#inFlight -= 1
      if (isOpening) this.#opening -= 1
    }
  }

  get #hasRoomForStream(): boolean {
    const { streams, limits } = this.#options
    return streams.open + this.#opening < limits.hostCallsAtOnce
  }

  /** A stream of a reply bears the name of its call. */
  #stream(call: string, { status, contentType, parts, cancel }: HostStream): string {
    const { streams, limits } = this.#options
    const name = `call/${call}`
    const isRefused = streams.open >= limits.hostCallsAtOnce
    const onEnd = (how: StreamEnd) => {
      if (how === 'cancelled') cancel()
    }
    streams.offer(name, parts, onEnd, joinMilliseconds)
    if (!isRefused) return JSON.stringify({ status, body: null, stream: name, contentType })
    streams.cancel(name)
    return replyText(refusal(429, `A run may have ${limits.hostCallsAtOnce} open streams: read or cancel others first`))
  }
}

/** The call of a request, or the reason why it is none. */
function toHostCall(request: string): HostCall | string {
  try {
    const call = parseUntrustedJson(request)
    if (typeof call !== 'object' || call === null || Array.isArray(call)) return invalid
    const { method, path, query, body, scope } = call
    if (typeof method !== 'string' || typeof path !== 'string') return invalid
    return {
      method,
      path,
      ...(query === undefined ? {} : { query: toObject(query) }),
      ...(body === undefined ? {} : { body }),
      ...(typeof scope === 'string' ? { scope } : {}),
    }
  } catch (error) {
    return error instanceof TypeError ? error.message : invalid
  }
}

const invalid = 'The call is invalid'

export function toObject(value: JsonObject[string]): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

function replyText(reply: HostReply): string {
  const text = JSON.stringify({ status: reply.status, body: reply.body ?? null, kb: reply.kb })
  return text.length > replyCharacters ? replyText(refusal(500, 'The reply is too large')) : text
}

const refusalTypes = { 400: 'InvalidPayload', 429: 'RateLimited', 500: 'Internal' } as const

function refusal(code: keyof typeof refusalTypes, message: string): HostReply {
  return { status: code, body: { id: '', code, type: refusalTypes[code], message } }
}
