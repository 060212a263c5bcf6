import type {
  HostCall,
  HostReply,
  JsonObject,
  LogLine,
  Outcome,
  Run,
  RunError,
  SandboxLog,
} from '../protocol/contract.ts'
import { firstFunction } from './first-function.ts'
import { toHandlerResponse } from './handler-response.ts'
import type { Handle } from './handle.ts'
import { takesLine, type Logged } from '../protocol/log-budget.ts'
import { parseUntrustedJson } from '../protocol/parse-json.ts'
import { readHooks } from './read-hooks.ts'
import { RunFetches } from './run-fetches.ts'
import { RunStreams } from './run-streams.ts'
import { secretRedactor } from '../protocol/redact-secrets.ts'

export interface RunHandle extends Handle {
  readonly outcome: Promise<Outcome>
  readonly budget: Budget
}

/** What has been spent of a run's limits, counted here because the count inside could be forged after an escape. */
interface Budget {
  calls: number
  logged: Logged
}

/** More than any operation answers; the isolate has to hold it several times over. */
const replyCharacters = 8_000_000

/** As the kernel has it. */
const maxStateCharacters = 2_000_000

/** Follows one run from the worker's side. `outer` is the run that called it, whose budget it draws on. */
export function runHandle(run: Run, report: SandboxLog, outer?: RunHandle): RunHandle {
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
  const budget = outer?.budget ?? { calls: 0, logged: { lines: 0, characters: 0 } }
  const { bundle, limits } = outer ?? run
  const logs: LogLine[] = []
  const star = secretRedactor(run.bundle.environment)
  const begunAt = performance.now()
  let ended = false

  const log = (line: LogLine) => {
    if (!takesLine(budget.logged, limits, line.message)) return false
    const starred = { ...line, message: star(line.message) }
    logs.push(starred)
    run.onLog?.(starred)
    return true
  }
  const starError = ({ name, message, stack }: RunError): RunError => {
    return { name: star(name), message: star(message), ...(stack !== undefined && { stack: star(stack) }) }
  }
  const streams = new RunStreams(run.sources)
  const fetches = new RunFetches(run, { limits, log, report, streams })

  const end = (how: Outcome) => {
    ended = true
    fetches.abortAll()
    streams.closeAll()
    resolve(how)
  }

  return {
    id: run.id,
    bundle,
    limits,
    runTree: outer?.runTree ?? run.id,
    outcome,
    budget,
    get ended() {
      return ended
    },
    begin: () => ({
      type: 'run',
      run: run.id,
      within: outer?.id ?? '',
      bundle: bundle.id,
      hook: firstFunction(run.task),
      task: JSON.stringify(run.task),
      limits,
    }),
    log,
    fetch: (fetch, request) => fetches.make(fetch, request),
    abortFetch: (fetch) => fetches.abort(fetch),
    pull: (wanted, send) => streams.pull(wanted, send),
    cancel: (stream) => streams.cancel(stream),
    async answer(request) {
      budget.calls += 1
      if (budget.calls > limits.hostCalls) return replyText(refusal(429, 'The run has made all of its calls'))
      const call = toHostCall(request)
      if (call === undefined) return replyText(refusal(400, 'The call is not valid'))
      try {
        const reply = await run.host(call)
        return 'interrupted' in reply ? reply : replyText(reply)
      } catch (error) {
        report('error', 'A host function rejected; it has to resolve to a reply', { run: run.id, error })
        return replyText(refusal(500, 'The platform could not answer'))
      }
    },
    done(result, state, cpuMilliseconds, hooksText) {
      const hooks = readHooks(hooksText, performance.now() - begunAt)
      try {
        if (result.length > limits.resultCharacters || state.length > maxStateCharacters) {
          throw new TypeError('The result is too large')
        }
        const parsed = parseUntrustedJson(result)
        const isResponse = run.task.kind === 'call' && bundle.kind === 'sdk'
        const answer = isResponse ? toHandlerResponse(parsed) : parsed
        end({
          status: 'done',
          result: answer,
          state: toObject(parseUntrustedJson(state)),
          logs,
          cpuMilliseconds,
          hooks,
        })
      } catch (thrown) {
        const message = thrown instanceof TypeError ? thrown.message : 'The result is not JSON'
        const error = { name: 'ResultError', message }
        end({ status: 'failed', reason: 'result', error, logs, cpuMilliseconds, hooks })
      }
    },
    fail({ reason, error, hook }, cpuMilliseconds, hooksText = '') {
      const hooks = readHooks(hooksText, performance.now() - begunAt)
      end({ status: 'failed', reason, error: starError(error), ...(hook && { hook }), logs, cpuMilliseconds, hooks })
    },
    interrupt(reason, cpuMilliseconds) {
      end({ status: 'interrupted', reason, logs, cpuMilliseconds, hooks: [] })
    },
  }
}

function toHostCall(request: string): HostCall | undefined {
  try {
    const call = parseUntrustedJson(request)
    if (typeof call !== 'object' || call === null || Array.isArray(call)) return undefined
    const { method, path, query, body } = call
    if (typeof method !== 'string' || typeof path !== 'string') return undefined
    return {
      method,
      path,
      ...(query === undefined ? {} : { query: toObject(query) }),
      ...(body === undefined ? {} : { body }),
    }
  } catch {
    return undefined
  }
}

function toObject(value: JsonObject[string]): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

function replyText(reply: HostReply): string {
  const text = JSON.stringify({ status: reply.status, body: reply.body ?? null })
  return text.length > replyCharacters ? replyText(refusal(500, 'The reply is too large')) : text
}

function refusal(code: number, message: string): HostReply {
  const type = code === 429 ? 'RateLimited' : code === 400 ? 'InvalidPayload' : 'Internal'
  return { status: code, body: { id: '', code, type, message } }
}
