import { outcomesPath, type FlowFrame, type FlowPosition, type FlowTask } from '../../protocol/flow-contract.ts'
import type { Json, JsonObject } from '../../protocol/contract.ts'
import { callSite } from '../call-site.ts'
import { apiError } from '../errors.ts'
import type { Pipeline } from '../pipeline-parts.ts'
import {
  create,
  defineProperty,
  freeze,
  hasOwn,
  isObject,
  keys,
  NativeDate,
  NativeTypeError,
  parse,
  record,
  stringify,
} from '../primordials.ts'
import { follow } from '../run.ts'
import type { EventObject } from '../shared.ts'
import type { Card, Flows } from './definition.ts'
import { toData, type Scope } from './values.ts'

/** The handling of one event by the flows of a bot. */
export interface FlowRun {
  readonly pipeline: Pipeline
  readonly flows: Flows
  readonly task: FlowTask
  position: FlowPosition
  /** Visits of nodes in this event, by `flow/node`. */
  readonly visits: Record<string, number>
  /** Cards that this event has run. */
  cards: number
  /** Milliseconds that `wait` cards have waited within the run. */
  waited: number
  /** Outcomes that are not recorded yet, by scope. */
  readonly unrecorded: Record<string, Json>
  /** Whether the event has ended the flows of the conversation, and not just left the last one. */
  ended: boolean
}

export function newPosition({ version }: FlowTask): FlowPosition {
  return { event: '', version, frames: [], temp: {} }
}

export function topFrame({ position }: FlowRun): FlowFrame | undefined {
  return position.frames[position.frames.length - 1]
}

/** The names that the expressions of a card find. `value` is the answer that a capture card examines. */
export function scopeOf(flowRun: FlowRun, value?: unknown): Scope {
  const { pipeline, position } = flowRun
  const { event } = pipeline.run.shared
  return {
    ...stateOf(flowRun),
    event,
    temp: position.temp,
    workflow: topFrame(flowRun)?.variables ?? {},
    env: pipeline.run.environment,
    now: new NativeDate(event['createdOn'] as Date),
    value,
  }
}

/** The parts of `event.state` that are variables of flows. */
export const stateParts = freeze(['user', 'conversation', 'session', 'bot'] as const)

/** The state of the event, which code may have replaced. */
export function eventState({ pipeline }: FlowRun): EventObject['state'] {
  const { state } = pipeline.run.shared.event
  if (!isObject(state)) throw new NativeTypeError('event.state must be an object')
  return state
}

function stateOf(flowRun: FlowRun): Record<(typeof stateParts)[number], JsonObject> {
  const state = eventState(flowRun)
  const parts = record({}) as Record<(typeof stateParts)[number], JsonObject>
  for (let index = 0; index < stateParts.length; index += 1) {
    const part = stateParts[index]!
    if (!hasOwn(state, part) || !isObject(state[part])) state[part] = {}
    parts[part] = state[part]
  }
  return parts
}

/** The object of a variable `scope.name`, and its name. */
function ownerOf(flowRun: FlowRun, variable: string): { owner: Record<string, unknown>; name: string } {
  let dot = 0
  while (dot < variable.length && variable[dot] !== '.') dot += 1
  let scope = ''
  let name = ''
  for (let index = 0; index < variable.length; index += 1) {
    if (index < dot) scope += variable[index]!
    else if (index > dot) name += variable[index]!
  }
  const { [scope]: owner } = scopeOf(flowRun)
  return { owner: owner as Record<string, unknown>, name }
}

export function setVariable(flowRun: FlowRun, variable: string, value: unknown): void {
  const { owner, name } = ownerOf(flowRun, variable)
  defineProperty(
    owner,
    name,
    record({ value: toData(value, parse), writable: true, enumerable: true, configurable: true }),
  )
}

export function removeVariable(flowRun: FlowRun, variable: string): void {
  const { owner, name } = ownerOf(flowRun, variable)
  delete owner[name]
}

export function getVariable(flowRun: FlowRun, variable: string): unknown {
  const { owner, name } = ownerOf(flowRun, variable)
  return hasOwn(owner, name) ? owner[name] : undefined
}

/** Shows code where the conversation stands, as `event.state.context`. */
export function showContext({ pipeline, position }: FlowRun): void {
  const frame = position.frames[position.frames.length - 1]
  const { previous } = position
  const value = freeze({
    ...(frame && { currentFlow: frame.flow, currentNode: frame.node, currentCard: frame.card }),
    ...(previous && { previousFlow: previous.flow, previousNode: previous.node }),
  })
  try {
    const { state } = pipeline.run.shared.event
    defineProperty(state, 'context', record({ value, writable: false, enumerable: true, configurable: true }))
  } catch {
    // The code has frozen its state.
  }
}

/** The path of a card, which names it in errors, logs and steps. */
export function pathOf(frame: FlowFrame, card: Card): string {
  return `${frame.flow}/${frame.node}/${card.id}`
}

/** The scope of a visit of a card: the same when the event runs again, if the earlier cards have the same outcomes. */
export function scopeName(flowRun: FlowRun, frame: FlowFrame, card: Card): string {
  return `card:${flowRun.cards}:${frame.flow}:${frame.node}:${card.id}.`
}

/**
 * Performs a card whose outcome may differ when the event runs again. The outcome of an earlier run is taken instead.
 * An outcome is recorded before the next effect of the flow, so that it costs nothing when none follows.
 */
export async function onceInEvent<Outcome>(
  flowRun: FlowRun,
  scope: string,
  perform: () => Promise<Outcome>,
): Promise<Outcome> {
  const { recorded } = flowRun.task
  if (hasOwn(recorded, scope)) return recorded[scope] as Outcome
  const outcome = await perform()
  flowRun.unrecorded[scope] = outcome as Json
  return outcome
}

/** Records the outcomes of the cards so far. Every effect of a flow comes after this. */
export async function recordOutcomes(flowRun: FlowRun): Promise<void> {
  const { unrecorded, pipeline } = flowRun
  const scopes = keys(unrecorded)
  if (scopes.length === 0) return
  const entries: { scope: string; outcome: Json }[] = []
  for (let index = 0; index < scopes.length; index += 1) {
    const scope = scopes[index]!
    entries[index] = record({ scope, outcome: unrecorded[scope] ?? null })
    delete unrecorded[scope]
  }
  const { run } = pipeline
  const site = callSite(recordOutcomes)
  const request = stringify(record({ method: 'POST', path: outcomesPath, body: record({ entries }) }))
  const { status, body } = parse(await follow(run, () => run.hostCalls.makeNow(request, site))) as {
    status: number
    body: unknown
  }
  if (status >= 400) throw apiError(status, body, site)
}

export function emptyRecord<Value>(): Record<string, Value> {
  return create(null) as Record<string, Value>
}
