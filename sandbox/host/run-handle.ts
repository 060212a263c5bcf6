import type {
  Bundle,
  FailureReason,
  Limits,
  LogLine,
  Outcome,
  RunError,
  RunRequest,
  SandboxLog,
} from '../protocol/contract.ts'
import type { ToProcess } from '../protocol/protocol.ts'
import { parseUntrustedJson } from '../protocol/parse-json.ts'
import { secretRedactor } from '../protocol/redact-secrets.ts'
import { firstFunction } from './first-function.ts'
import { toHandlerResponse } from './handler-response.ts'
import { readHooks } from './read-hooks.ts'
import { readLine } from './read-line.ts'
import { RunBudget } from './run-budget.ts'
import { RunCalls, toObject } from './run-calls.ts'
import { RunFetches } from './run-fetches.ts'
import { RunStreams } from './run-streams.ts'

/** The worker's side of a run or an inspection. It ends exactly once. */
export interface RunHandle {
  readonly id: string
  readonly bundle: Bundle
  readonly limits: Limits
  /** The id of the run at the root of its run tree: its own, unless another run called it. The tree ends as one. */
  readonly runTree: string
  /** Budget of the run tree. */
  readonly budget: RunBudget
  /** Undefined for an inspection, whose code has no access to the worker. */
  readonly services?: RunServices
  readonly ended: boolean
  /** Returns the frame that begins the run. */
  begin(): ToProcess
  /** `hooks` is the text of the frame's field. */
  done(result: string, state: string, cpuMilliseconds: number, hooks: string): void
  fail(failure: Failure, cpuMilliseconds: number, hooks?: string): void
  interrupt(reason: string, cpuMilliseconds: number): void
}

/** The worker's services for the code of a run. */
export interface RunServices {
  readonly id: string
  readonly budget: RunBudget
  readonly calls: RunCalls
  readonly fetches: RunFetches
  readonly streams: RunStreams
  /** Writes a line that the process sends. False when the log is full, or the line too long. */
  log(line: Record<keyof LogLine, string>): boolean
}

export interface Failure {
  reason: FailureReason
  error: RunError
  /** The function at fault. */
  hook?: string
}

/** The failure of a run that crashed its process, or exceeded its deadline. */
export function failureOutside(reason: 'crashed' | 'timeout'): Failure {
  return reason === 'crashed'
    ? { reason, error: { name: 'CrashError', message: 'The sandbox process crashed during this run' } }
    : { reason, error: { name: 'TimeoutError', message: 'The run did not end in time and could not be stopped' } }
}

/** Equal to the kernel's limit. */
const maxStateCharacters = 2_000_000

/** Makes the run handle of an event or a function call. `outer` is the run that called it, whose budget it shares. */
export function runHandle(
  run: RunRequest,
  report: SandboxLog,
  outer?: RunHandle,
): RunHandle & { readonly outcome: Promise<Outcome> } {
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
  const { bundle, limits } = outer ?? run
  const budget = outer?.budget ?? new RunBudget(limits, run.eventFetches)
  const logs: LogLine[] = []
  const redact = secretRedactor(run.bundle.environment)
  const startedAt = performance.now()
  let ended = false

  const log = (line: LogLine) => {
    if (!budget.takeLine(line.message)) return false
    const redacted = { ...line, message: redact(line.message) }
    logs.push(redacted)
    run.onLog?.(redacted)
    return true
  }
  const redactError = ({ name, message, stack }: RunError): RunError => {
    return { name: redact(name), message: redact(message), ...(stack !== undefined && { stack: redact(stack) }) }
  }
  const streams = new RunStreams(run.sources)
  const fetches = new RunFetches(run, { limits, budget, log, report, streams })
  const calls = new RunCalls({ run: run.id, host: run.host, limits, budget, report, streams })

  const end = (how: Outcome) => {
    ended = true
    fetches.abortAll()
    streams.closeAll()
    resolve(how)
  }
  /** A run cannot use more processor time than wall time. */
  const ending = (cpu: number, hooksText = '') => ({
    logs,
    cpuMilliseconds: Number.isFinite(cpu) && cpu > 0 ? Math.min(cpu, limits.wallMilliseconds) : 0,
    hooks: readHooks(hooksText, performance.now() - startedAt),
  })

  return {
    id: run.id,
    bundle,
    limits,
    runTree: outer?.runTree ?? run.id,
    budget,
    services: {
      id: run.id,
      budget,
      calls,
      fetches,
      streams,
      log(texts) {
        const line = readLine(texts)
        return line !== undefined && log(line)
      },
    },
    outcome,
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
    done(result, state, cpu, hooks) {
      try {
        if (result.length > limits.resultCharacters || state.length > maxStateCharacters) {
          throw new TypeError('The result is too large')
        }
        const parsed = parseUntrustedJson(result)
        const isResponse = run.task.kind === 'call' && bundle.kind === 'sdk'
        const answer = isResponse ? toHandlerResponse(parsed) : parsed
        end({ status: 'done', result: answer, state: toObject(parseUntrustedJson(state)), ...ending(cpu, hooks) })
      } catch (thrown) {
        const message = thrown instanceof TypeError ? thrown.message : 'The result is not JSON'
        end({ status: 'failed', reason: 'result', error: { name: 'ResultError', message }, ...ending(cpu, hooks) })
      }
    },
    fail({ reason, error, hook }, cpu, hooks) {
      end({ status: 'failed', reason, error: redactError(error), ...(hook && { hook }), ...ending(cpu, hooks) })
    },
    interrupt(reason, cpu) {
      end({ status: 'interrupted', reason, ...ending(cpu) })
    },
  }
}
