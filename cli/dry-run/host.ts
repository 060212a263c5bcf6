import type { Host, HostCall, JsonObject, LogLine, Outcome, RunRequest, Sandbox } from '#sandbox/protocol/contract.ts'
import { ApiError } from '#shared/errors.ts'
import type { Operation } from '#shared/rpc/operation.ts'
import { findOperation } from '#shared/router.ts'
import { compile, describeErrors } from '#shared/schema.ts'
import type { Answers } from './answers.ts'

/** Something that code asked of the platform, and what it was answered. */
export interface DryRunCall {
  operation: string
  input: JsonObject
  answer?: JsonObject
  /** Where the answer is from: given by the author, what an action of the bot's own returned, or made up. */
  source?: 'given' | 'own' | 'made up'
  /** Why it was refused. */
  refusal?: { type: string; message: string }
}

/** A request to the world outside, and its status, or why there was no answer. */
export interface DryRunFetch {
  method: string
  url: string
  status?: number
  failure?: string
}

/** What the runs of a trial have in common. */
interface Scene extends Pick<RunRequest, 'bundle' | 'limits'> {
  sandbox: Sandbox
  /** The bot's own, by name. */
  actions: string[]
  answers: Answers
  /** Where all is written down that happens. */
  record: { calls: DryRunCall[]; fetches: DryRunFetch[]; logs: LogLine[] }
}

/** Runs something in a trial. */
export function runDry(scene: Scene, id: string, task: RunRequest['task']): Promise<Outcome> {
  const { sandbox, bundle, limits, answers, record } = scene
  return sandbox.run({
    id,
    bundle,
    limits,
    task,
    host: openHost(scene, id),
    async fetch(request, signal) {
      const answer = await answers.fetch(request, signal)
      const { method, url } = request
      const outcome = 'failure' in answer ? { failure: answer.message } : { status: answer.status }
      record.fetches.push({ method, url, ...outcome })
      return answer
    },
    onLog: (line) => record.logs.push(line),
  })
}

/** Answers the calls of a run; those of the bot's own actions by running them. */
function openHost(scene: Scene, within: string): Host {
  const { answers, record, actions } = scene
  let nested = 0

  const answerOf = async (operation: Operation, input: JsonObject): Promise<Pick<DryRunCall, 'answer' | 'source'>> => {
    assertFits(operation, input)
    const given = answers.given(operation.name)
    if (given) return { source: 'given', answer: given.answer }
    const name = operation.name === 'callAction' ? (input['type'] as string) : ''
    if (!actions.includes(name)) return { source: 'made up', answer: answers.madeUp(operation, input) }
    const id = `${within}/${++nested}`
    const place = { within, event: {}, streamPrefix: `${id}/` }
    const outcome = await runDry(scene, id, { kind: 'action', name, input: input['input'] as JsonObject, ...place })
    return { source: 'own', answer: { output: outputOf(name, outcome), meta: { cached: false } } }
  }

  return async (call) => {
    const { operation, input } = readCall(call)
    const made: DryRunCall = { operation: operation.name, input }
    record.calls.push(made)
    try {
      Object.assign(made, await answerOf(operation, input))
      return { status: operation.status, body: made.answer! }
    } catch (error) {
      const refusal = ApiError.from(error)
      made.refusal = { type: refusal.type, message: refusal.message }
      return { status: refusal.status, body: refusal.toJSON() as unknown as JsonObject }
    }
  }
}

function readCall({ method, path, query, body }: HostCall) {
  const { operation, parameters } = findOperation(method, path)
  return { operation, input: { ...query, ...(body as JsonObject | undefined), ...parameters } }
}

/** The platform would refuse what does not fit the schema. */
function assertFits({ input: schema, takesBody }: { input: object; takesBody: boolean }, input: JsonObject): void {
  const fits = compile(schema, takesBody ? 'body' : 'query')
  if (!fits(structuredClone(input))) throw new ApiError('InvalidPayload', describeErrors(fits))
}

function outputOf(action: string, outcome: Outcome): JsonObject {
  if (outcome.status === 'done') return (outcome.result ?? {}) as JsonObject
  const why = outcome.status === 'failed' ? outcome.error.message : outcome.reason
  throw new ApiError('Runtime', `The action '${action}' failed: ${why}`)
}
