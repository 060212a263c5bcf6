import type { ActionTask, EventTask } from '../protocol/contract.ts'
import { actionOf } from './bot-module.ts'
import type { FlowResult } from '../protocol/flow-contract.ts'
import { limitError } from './errors.ts'
import { beginFlows, findTrigger, runFlows } from './flows/engine.ts'
import { callHooks } from './hooks.ts'
import { toJsonText } from './json-text.ts'
import type { Pipeline } from './pipeline-parts.ts'
import { apply, assign, create, hasOwn, isObject, NativeDate } from './primordials.ts'
import { attributed } from './run.ts'
import type { EventObject } from './shared.ts'

/** Makes the `event` object from the host's JSON. */
export function reviveEvent(event: Record<string, unknown>): EventObject {
  const { createdOn, state } = event
  if (typeof createdOn === 'string') event['createdOn'] = new NativeDate(createdOn)
  if (!isObject(state)) event['state'] = {}
  return event as EventObject
}

/** Runs the hook stages of an event, then the flows; resolves to whether a hook stopped the pipeline. */
export async function runEvent(pipeline: Pipeline, task: EventTask): Promise<boolean | FlowResult> {
  const { stages } = task
  const flowRun = task.flow && pipeline.flows && beginFlows(pipeline, pipeline.flows, task.flow)
  const trigger = flowRun && (await findTrigger(flowRun))
  let stopped = false
  for (let index = 0; index < stages.length && !stopped; index += 1) {
    stopped = await runStage(pipeline, stages[index]!)
  }
  const position = flowRun === undefined || stopped ? undefined : await runFlows(flowRun, trigger)
  if (flowRun?.ended === true && hasOwn(task, 'atFlowEnd') && task.atFlowEnd !== undefined) {
    await runStage(pipeline, task.atFlowEnd)
  }
  if (hasOwn(task, 'finally') && task.finally !== undefined) await runStage(pipeline, task.finally)
  return flowRun === undefined ? stopped : { stopped, ...(position !== undefined && { position }) }
}

function runStage(pipeline: Pipeline, name: string): Promise<boolean> {
  const { run, bot } = pipeline
  return callHooks(run, bot, {
    name,
    argument: () => contextOf(pipeline),
    replace: (data) => {
      const { state } = run.shared.event
      const replaced = hasOwn(data, 'state') && isObject(data['state']) ? data : assign({}, data, { state })
      run.shared.event = replaced as EventObject
    },
  })
}

/** Calls an action; resolves to its return value. */
export async function runAction(pipeline: Pipeline, { name, input }: ActionTask): Promise<unknown> {
  const { run, bot } = pipeline
  const action = actionOf(bot, name)
  const call = () => apply(action, bot['actions'], [{ input, ...contextOf(pipeline) }]) as unknown
  const output = await attributed(run, `actions.${name}`, call)
  return output === undefined ? {} : output
}

function contextOf({ run, client, logger }: Pipeline): object {
  const { event } = run.shared
  return { event, client, state: event.state, logger, env: run.environment }
}

/** Serializes the result of a run. Throws when it is too large or not representable as JSON. */
export function resultText(result: unknown, characters: number): string {
  const text = toJsonText(result, 'result', (reason) =>
    resultError(`The result cannot be converted to JSON: ${reason}`),
  )
  if (text.length > characters) {
    const message = `The result has ${text.length} characters of JSON, more than the ${characters} allowed`
    throw limitError('result', 'ResultLimitError', message)
  }
  return text
}

const stateCharacters = 2_000_000

/** Serializes `event.state`, without the parts that live for one event only. */
export function stateText({ state }: EventObject): string {
  if (!isObject(state)) throw resultError('event.state must be an object')
  const kept = assign(create(null) as Record<string, unknown>, state)
  delete kept['temp']
  delete kept['context']
  const refuse = (reason: string) => resultError(`event.state cannot be converted to JSON: ${reason}`)
  const text = toJsonText(kept, 'event.state', refuse)
  if (text.length > stateCharacters) throw resultError('event.state is too large')
  return text
}

function resultError(message: string): Error {
  return limitError('result', 'ResultError', message)
}
