import type { Host, HostCall, HostReply, Interruption, JsonObject, Limits, SandboxLog } from '../protocol/contract.ts'
import { parseUntrustedJson } from '../protocol/parse-json.ts'
import type { RunBudget } from './run-budget.ts'

/** Above the size of any operation's reply; the isolate holds several copies of a reply. */
const replyCharacters = 8_000_000

export interface CallsOptions {
  run: string
  host: Host
  limits: Limits
  budget: RunBudget
  report: SandboxLog
}

/** The calls of one run to the platform, from the worker's side. */
export class RunCalls {
  readonly #options: CallsOptions
  #inFlight = 0

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
  async answer(request: string): Promise<string | Interruption> {
    const { run, host, report } = this.#options
    try {
      const call = toHostCall(request)
      if (call === undefined) return replyText(refusal(400, 'The call is invalid'))
      const reply = await host(call)
      return 'interrupted' in reply ? reply : replyText(reply)
    } catch (error) {
      report('error', 'A host function rejected instead of resolving to a reply', { run, error })
      return replyText(refusal(500, 'The platform could not answer'))
    } finally {
      this.#inFlight -= 1
    }
  }
}

function toHostCall(request: string): HostCall | undefined {
  try {
    const call = parseUntrustedJson(request)
    if (typeof call !== 'object' || call === null || Array.isArray(call)) return undefined
    const { method, path, query, body, scope } = call
    if (typeof method !== 'string' || typeof path !== 'string') return undefined
    return {
      method,
      path,
      ...(query === undefined ? {} : { query: toObject(query) }),
      ...(body === undefined ? {} : { body }),
      ...(typeof scope === 'string' ? { scope } : {}),
    }
  } catch {
    return undefined
  }
}

export function toObject(value: JsonObject[string]): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

function replyText(reply: HostReply): string {
  const text = JSON.stringify({ status: reply.status, body: reply.body ?? null, kb: reply.kb })
  return text.length > replyCharacters ? replyText(refusal(500, 'The reply is too large')) : text
}

function refusal(code: 400 | 500, message: string): HostReply {
  return { status: code, body: { id: '', code, type: code === 400 ? 'InvalidPayload' : 'Internal', message } }
}
