import type { Host, HostCall, JsonObject, LogLine, Outcome, RunRequest } from '#sandbox/protocol/contract.ts'
import type { Sandbox } from '#sandbox/sandbox.ts'
import { outcomesPath } from '#sandbox/protocol/flow-contract.ts'
import { ApiError } from '#shared/errors.ts'
import type { Operation } from '#shared/rpc/operation.ts'
import { findOperation } from '#shared/router.ts'
import { compile, describeErrors } from '#shared/schema.ts'
import type { Answers } from './answers.ts'
import { completeSearch, knowledgeOf } from './knowledge.ts'
import { completeGeneration, isGeneration, toGenerationReply } from './models.ts'

/** A call of an operation by bot code, with its answer. */
export interface DryRunCall {
  operation: string
  input: JsonObject
  answer?: JsonObject
  /** The origin of the answer: given by the author, returned by the bot's own action or conversation, or made up. */
  source?: 'given' | 'own' | 'made up'
  /** The error of a refused call. */
  refusal?: { type: string; message: string }
}

/** An outbound request with its status, or the reason of its failure. */
export interface DryRunFetch {
  method: string
  url: string
  /** By lower-case name. */
  headers: Record<string, string>
  /** Text, or base64 where it is no text. */
  body?: string
  status?: number
  failure?: string
}

/** The context that the runs of a dry run share. */
export interface DryRunContext extends Pick<RunRequest, 'bundle' | 'limits' | 'sources'> {
  sandbox: Sandbox
  /** The names of the bot's own actions. */
  actions: string[]
  answers: Answers
  /** Receives the calls, outbound requests and log lines of all runs. */
  record: { calls: DryRunCall[]; fetches: DryRunFetch[]; logs: LogLine[] }
  /** Receives each valid call without a given answer, and may answer it. */
  receive?: (operation: string, input: JsonObject) => JsonObject | undefined
}

/** Runs a hook or an action in the isolate of a dry run. */
export function runDry(context: DryRunContext, id: string, task: RunRequest['task']): Promise<Outcome> {
  const { sandbox, bundle, limits, sources, answers, record } = context
  return sandbox.run({
    id,
    bundle,
    limits,
    task,
    ...(sources && { sources }),
    host: openHost(context, id),
    async fetch(request, signal) {
      const answer = await answers.fetch(request, signal)
      const { method, url, headers, body } = request
      const outcome = 'failure' in answer ? { failure: answer.message } : { status: answer.status }
      record.fetches.push({ method, url, headers, ...(body !== undefined && { body }), ...outcome })
      return answer
    },
    onLog: (line) => record.logs.push(line),
  })
}

/** Answers the calls of a run; calls of the bot's own actions run these actions. */
function openHost(context: DryRunContext, within: string): Host {
  const { answers, record, actions } = context
  let nested = 0

  const answerOf = async (operation: Operation, input: JsonObject): Promise<Pick<DryRunCall, 'answer' | 'source'>> => {
    assertFits(operation, input)
    const given =
      answers.scripted(operation.name) ?? (isGeneration(operation) ? answers.scripted('generateText') : undefined)
    if (given)
      return { source: 'given', answer: isGeneration(operation) ? completeGeneration(given.answer) : given.answer }
    const own = context.receive?.(operation.name, input)
    if (own) return { source: 'own', answer: own }
    const name = operation.name === 'callAction' ? (input['type'] as string) : ''
    if (isGeneration(operation)) return { source: 'made up', answer: completeGeneration({ output: 'An answer' }) }
    if (!actions.includes(name)) return { source: 'made up', answer: answers.exampleAnswer(operation, input) }
    const id = `${within}/${++nested}`
    const position = { within, event: {}, streamPrefix: `${id}/` }
    const outcome = await runDry(context, id, {
      kind: 'action',
      name,
      input: input['input'] as JsonObject,
      ...position,
    })
    return { source: 'own', answer: { output: outputOf(name, outcome), meta: { cached: false } } }
  }

  return async (call) => {
    // Outcomes of cards are recorded for repeated runs, and a dry run has none.
    if (call.path === outcomesPath) return { status: 200, body: {} }
    const { operation, input } = readCall(call)
    const made: DryRunCall = { operation: operation.name, input }
    record.calls.push(made)
    try {
      Object.assign(made, await answerOf(operation, input))
      if (isGeneration(operation)) return toGenerationReply(operation, input, made.answer!)
      if (operation.name !== 'searchFiles') return { status: operation.status, body: made.answer! }
      made.answer = completeSearch(made.answer!)
      return { status: operation.status, body: made.answer, kb: knowledgeOf(input, made.answer) }
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

/** Refuses input that does not fit the operation's schema, as the platform does. */
function assertFits({ input: schema, takesBody, form }: Operation, input: JsonObject): void {
  const fits = compile(schema, takesBody && !form ? 'body' : 'query')
  if (!fits(structuredClone(input))) throw new ApiError('InvalidPayload', describeErrors(fits))
}

function outputOf(action: string, outcome: Outcome): JsonObject {
  if (outcome.status === 'done') return (outcome.result ?? {}) as JsonObject
  const why = outcome.status === 'failed' ? outcome.error.message : outcome.reason
  throw new ApiError('Runtime', `The action '${action}' failed: ${why}`)
}
