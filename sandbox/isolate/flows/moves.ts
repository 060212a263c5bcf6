import { maxFrames, maxVisits, type FlowFrame } from '../../protocol/flow-contract.ts'
import { limitError } from '../errors.ts'
import {
  hasOwn,
  indexIn,
  isObject,
  NativeError,
  NativeWeakMap,
  parse,
  sliceText,
  weakMapGet,
  weakMapSet,
} from '../primordials.ts'
import type { Step } from './card-parts.ts'
import { indexOfCard, nodeOf, type Flow } from './definition.ts'
import { eventState, newPosition, setVariable, topFrame, type FlowRun } from './flow-run.ts'
import { toData } from './values.ts'

/** Moves of the position between cards: flows begin above others, take their place, and end; nodes are entered. */

/** Moves the position. @returns the index of the card that runs next */
export function follow(flowRun: FlowRun, step: Exclude<Step, { kind: 'wait' }>, index: number): number {
  switch (step.kind) {
    case 'next':
      return index + 1
    case 'port':
      return index + 1
    case 'go':
      return step.to === null ? leave(flowRun) : goTo(flowRun, step.to)
    case 'jump':
      restartKeepingTemp(flowRun)
      push(flowRun, step.flow, {})
      return enter(flowRun, flowRun.flows[step.flow]!.start)
    case 'replace':
      replace(flowRun, step.flow)
      return enter(flowRun, flowRun.flows[step.flow]!.start)
    case 'call':
      push(flowRun, step.flow, step.input)
      return enter(flowRun, flowRun.flows[step.flow]!.start)
    case 'end':
      return endAll(flowRun)
  }
}

export function restartKeepingTemp(flowRun: FlowRun): void {
  const { temp } = flowRun.position
  restart(flowRun)
  flowRun.position.temp = temp
}

/** Ends the top flow. Its caller continues after the card that called it, with the variables that this card names. */
function leave(flowRun: FlowRun): number {
  const { position, flows } = flowRun
  const { frames } = position
  const ended = frames[frames.length - 1]!
  frames.length -= 1
  position.previous = { flow: ended.flow, node: ended.node }
  const frame = topFrame(flowRun)
  if (frame === undefined && ended.flow === 'end') endSession(flowRun)
  if (frame === undefined || ended.interrupts) return 0
  const node = nodeOf(flows[frame.flow] ?? noFlow, frame.node)
  if (node === undefined) {
    warnOfRemoved(flowRun, frame)
    restartKeepingTemp(flowRun)
    if (flows['main'] === undefined) return 0
    push(flowRun, 'main', {})
    return enter(flowRun, flows['main'].start)
  }
  const index = indexOfCard(node, frame.card)
  const output = index < 0 ? undefined : (node.cards[index]!['output'] as Record<string, string> | undefined)
  for (const name in output) {
    if (hasOwn(output, name) && hasOwn(ended.variables, name))
      setVariable(flowRun, output[name]!, ended.variables[name])
  }
  return index + 1
}

/** Enters a destination: a node of the same flow, or another flow in its place. */
function goTo(flowRun: FlowRun, to: string): number {
  const slash = indexIn(to, '/')
  if (slash === -1) return enter(flowRun, to)
  const id = sliceText(to, 0, slash)
  const node = sliceText(to, slash + 1)
  const flow = flowRun.flows[id]
  if (flow === undefined) throw new NativeError(`The bot has no flow '${id}'`)
  const frame = topFrame(flowRun)!
  if (frame.flow !== id) {
    flowRun.position.previous = { flow: frame.flow, node: frame.node }
    frame.flow = id
    frame.variables = variablesOf(flow) as never
    return enter(flowRun, node === '' ? flow.start : node, false)
  }
  return enter(flowRun, node === '' ? flow.start : node)
}

/** @param isSameFlow whether the node left is that of the frame */
function enter(flowRun: FlowRun, node: string, isSameFlow = true): number {
  const frame = topFrame(flowRun)!
  if (isSameFlow && frame.card !== '') flowRun.position.previous = { flow: frame.flow, node: frame.node }
  delete frame.waits
  frame.node = node
  frame.card = ''
  const path = `${frame.flow}/${node}`
  const visits = (flowRun.visits[path] ?? 0) + 1
  flowRun.visits[path] = visits
  if (visits > maxVisits) throw flowLimit(`The flow loops: an event may visit node ${path} at most ${maxVisits} times`)
  return 0
}

/** The card `end`: flow `end` runs, or all flows end at once. The session ends with them. */
function endAll(flowRun: FlowRun): number {
  const { flows } = flowRun
  const isEnding = topFrame(flowRun)?.flow === 'end'
  restartKeepingTemp(flowRun)
  if (flows['end'] !== undefined && !isEnding) {
    push(flowRun, 'end', {})
    return enter(flowRun, flows['end'].start)
  }
  endSession(flowRun)
  return 0
}

function endSession(flowRun: FlowRun): void {
  eventState(flowRun)['session'] = {}
  flowRun.ended = true
}

/**
 * Begins a flow in the place of those in progress, or of those above a flow that waits: it waits on, and continues at the
 * end of the new one.
 */
export function replace(flowRun: FlowRun, id: string): void {
  const interrupts = leaveInterrupting(flowRun)
  if (!interrupts) restartKeepingTemp(flowRun)
  push(flowRun, id, {})
  if (interrupts) topFrame(flowRun)!.interrupts = true
}

/**
 * Leaves the topmost flow that interrupts another one, and the flows that it has called.
 *
 * @param id of the flow that is left with all above it; by default the topmost one that interrupts
 * @returns whether there was one
 */
export function leaveInterrupting(flowRun: FlowRun, id?: string): boolean {
  const { frames } = flowRun.position
  for (let index = frames.length - 1; index > 0; index -= 1) {
    const { flow, interrupts } = frames[index]!
    if (interrupts !== true || (id !== undefined && flow !== id)) continue
    const { flow: left, node } = frames[frames.length - 1]!
    flowRun.position.previous = { flow: left, node }
    frames.length = index
    return true
  }
  return false
}

/** Leaves all flows in progress. */
export function restart(flowRun: FlowRun): void {
  const { previous } = flowRun.position
  flowRun.position = { ...newPosition(flowRun.task), ...(previous && { previous }) }
}

/** Begins a flow above the present one, with the defaults of its variables. */
export function push(flowRun: FlowRun, id: string, input: Record<string, unknown>): void {
  const flow = flowRun.flows[id]
  if (flow === undefined) throw new NativeError(`The bot has no flow '${id}'`)
  const { frames } = flowRun.position
  if (frames.length >= maxFrames) {
    throw flowLimit(`Flows call each other more than ${maxFrames} deep: '${id}' was not called`)
  }
  const variables = variablesOf(flow)
  for (const name in input) {
    if (hasOwn(input, name)) define(variables, name, toData(input[name], parse))
  }
  frames[frames.length] = { flow: id, node: flow.start, card: '', variables: variables as never }
}

function variablesOf({ variables }: Flow): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const name in variables) {
    if (!hasOwn(variables, name)) continue
    const initial = variables[name]!.default
    if (initial !== undefined && typeof initial !== 'function') define(values, name, toData(initial, parse))
  }
  return values
}

function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
}

export function warnOfRemoved({ pipeline }: FlowRun, { flow, node }: FlowFrame): void {
  pipeline.logger.warn(`The conversation stood at ${flow}/${node}, which this version does not have: flow main begins`)
}

/** In place of a flow that the version does not have. */
export const noFlow: Flow = { id: '', start: '', nodes: [] }

const flowLimits = new NativeWeakMap<object, true>()

/** Whether a thrown value is the error of a flow that loops. */
export function isFlowLimit(error: unknown): boolean {
  return isObject(error) && weakMapGet(flowLimits, error) === true
}

/** The error of a flow that loops. It fails the event: no flow handles it. */
export function flowLimit(message: string): Error {
  const error = limitError('error', 'FlowLimitError', message)
  weakMapSet(flowLimits, error, true)
  return error
}
