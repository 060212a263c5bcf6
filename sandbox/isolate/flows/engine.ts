import { maxCardsPerEvent, type FlowResult, type FlowTask } from '../../protocol/flow-contract.ts'
import { reasonOf } from '../errors.ts'
import type { Pipeline } from '../pipeline-parts.ts'
import { isObject, NativeError, now, sliceText } from '../primordials.ts'
import { attributed, never } from '../run.ts'
import { redact } from '../secrets.ts'
import type { Step } from './card-parts.ts'
import { performCard } from './cards.ts'
import { indexOfCard, nodeOf, portOf, type Card, type Flow, type Flows } from './definition.ts'
import {
  emptyRecord,
  newPosition,
  pathOf,
  scopeOf,
  setVariable,
  showContext,
  topFrame,
  type FlowRun,
} from './flow-run.ts'
import {
  flowLimit,
  follow,
  isFlowLimit,
  leaveInterrupting,
  noFlow,
  push,
  replace,
  restart,
  restartKeepingTemp,
  warnOfRemoved,
} from './moves.ts'
import { resumeCard } from './question-cards.ts'
import { holds, toWords } from './values.ts'

/**
 * Runs the flows of a bot for one event: continues where the conversation stands, or begins a flow. The position that
 * it returns is stored with the end of the event, so a run that dies leaves none.
 */

/** The position of an event before its hooks, which see it as `event.state.context`. */
export function beginFlows(pipeline: Pipeline, flows: Flows, task: FlowTask): FlowRun {
  const flowRun: FlowRun = {
    pipeline,
    flows,
    task,
    position: task.position ?? newPosition(task),
    visits: emptyRecord(),
    cards: 0,
    waited: 0,
    unrecorded: emptyRecord(),
    ended: false,
  }
  showContext(flowRun)
  return flowRun
}

/**
 * Finds the first trigger whose filter accepts the event, and shows it to code as `event.trigger`. A conversation that waits
 * has only the triggers that interrupt: other events are for the card that waits.
 */
export async function findTrigger(flowRun: FlowRun): Promise<FlowTask['triggers'][number] | undefined> {
  const { task, flows, pipeline } = flowRun
  const isWaiting = topFrame(flowRun)?.waits !== undefined
  for (let index = 0; index < task.triggers.length; index += 1) {
    const each = task.triggers[index]!
    const { filter, interrupts } = triggerOf(flows, each) ?? {}
    if (isWaiting && interrupts !== true) continue
    const test = () => holds(filter, scopeOf(flowRun))
    if (filter !== undefined && !(await attributed(pipeline.run, `${each.flow}/${each.trigger}`, test))) continue
    const { event } = pipeline.run.shared
    const { type, integration, conversationId, userId } = event
    event['trigger'] = {
      flowId: each.flow,
      nodeId: each.node,
      eventName: type,
      ...(integration !== undefined && { integration }),
      ...(conversationId !== undefined && { conversationId }),
      ...(userId !== undefined && { userId }),
    }
    return each
  }
  return undefined
}

/** Runs the flows after the hooks of the event; undefined when the event does not concern them. */
export async function runFlows(
  flowRun: FlowRun,
  trigger: FlowTask['triggers'][number] | undefined,
): Promise<FlowResult['position']> {
  const { task } = flowRun
  if (trigger !== undefined) {
    const isWaiting = topFrame(flowRun)?.waits !== undefined
    if (!isWaiting) restart(flowRun)
    // A flow that is asked for again begins again: it does not interrupt itself, which would end at the bound of frames.
    else leaveInterrupting(flowRun, trigger.flow)
    push(flowRun, trigger.flow, {})
    if (isWaiting) topFrame(flowRun)!.interrupts = true
    return continueFrom(flowRun, { to: `${trigger.flow}/` })
  }
  switch (task.cause) {
    case 'message':
      return message(flowRun)
    case 'due':
      return due(flowRun)
    case 'start': {
      const { flow, node, input = {}, temp } = task.start!
      restart(flowRun)
      if (temp !== undefined) flowRun.position.temp = temp
      push(flowRun, flow, input)
      return continueFrom(flowRun, { to: `${flow}/${node ?? ''}` })
    }
    case 'resume':
      return resumeAfterHandover(flowRun)
    case 'end':
      flowRun.ended = task.position !== null
      return flowRun.ended ? null : undefined
    case 'event':
      return undefined
  }
}

async function message(flowRun: FlowRun): Promise<FlowResult['position']> {
  const frame = topFrame(flowRun)
  const flow = frame && flowRun.flows[frame.flow]
  if (frame?.waits !== undefined && flow !== undefined) {
    const routes = flow.always?.length ?? 0
    for (let index = 0; index < routes; index += 1) {
      const route = flow.always![index]!
      const test = () => holds(route.if, scopeOf(flowRun))
      if (!(await attributed(flowRun.pipeline.run, `${frame.flow}/always`, test))) continue
      delete frame.waits
      return continueFrom(flowRun, { to: route.to })
    }
    const { waits } = frame
    // Such messages are for people; the worker leaves most of them out.
    if (waits.for === 'handover') return undefined
    // A wait for time is not over because of a message, unless its own event has failed.
    if (waits.for === 'time' && waits.until !== null && waits.until > now()) return undefined
    if (waits.for === 'time') delete frame.waits
    return continueAt(flowRun, waits.for === 'time' ? { after: true } : { resume: true })
  }
  return beginMain(flowRun)
}

/**
 * Continues at the card of the position. Where a new version has removed the card, its node begins again; where it has
 * removed the node, `main` begins.
 */
async function continueAt(flowRun: FlowRun, start: Start): Promise<FlowResult['position']> {
  const frame = topFrame(flowRun)!
  const flow = flowRun.flows[frame.flow]
  const node = flow && nodeOf(flow, frame.node)
  if (node === undefined) return beginMain(flowRun)
  return continueFrom(flowRun, indexOfCard(node, frame.card) >= 0 ? start : { to: frame.node })
}

async function beginMain(flowRun: FlowRun): Promise<FlowResult['position']> {
  const frame = topFrame(flowRun)
  if (frame !== undefined) warnOfRemoved(flowRun, frame)
  if (flowRun.flows['main'] === undefined) return frame === undefined ? undefined : null
  restartKeepingTemp(flowRun)
  push(flowRun, 'main', {})
  return continueFrom(flowRun, { to: 'main/' })
}

/** People have handed the conversation back. The end of another wait may have come while the bot did not run. */
async function resumeAfterHandover(flowRun: FlowRun): Promise<FlowResult['position']> {
  const frame = topFrame(flowRun)
  if (frame?.waits === undefined) return undefined
  const { waits } = frame
  if (waits.for !== 'handover') return waits.until !== null && waits.until <= now() ? endWait(flowRun) : undefined
  delete frame.waits
  const node = nodeOf(flowRun.flows[frame.flow] ?? noFlow, frame.node)
  const card = node && node.cards[indexOfCard(node, frame.card)]
  const to = card && portOf(card, 'resumed')
  return continueAt(flowRun, to === undefined ? { after: true } : { to })
}

/** The end of a wait. An older one, whose conversation has gone on meanwhile, has no effect. */
async function due(flowRun: FlowRun): Promise<FlowResult['position']> {
  const { task, position } = flowRun
  const waits = topFrame(flowRun)?.waits
  if (waits === undefined || position.event !== task.waitOf || waits.for === 'handover') return undefined
  return endWait(flowRun)
}

async function endWait(flowRun: FlowRun): Promise<FlowResult['position']> {
  const { flows } = flowRun
  const frame = topFrame(flowRun)!
  const waits = frame.waits!
  delete frame.waits
  if (waits.for === 'time') return continueAt(flowRun, { after: true })
  const to = flows[frame.flow]?.timeout?.to
  if (to !== undefined && to !== null) return continueFrom(flowRun, { to })
  if (flows['timeout'] === undefined || frame.flow === 'timeout') {
    return leaveInterrupting(flowRun) ? newPositionOf(flowRun) : null
  }
  replace(flowRun, 'timeout')
  return continueFrom(flowRun, { to: 'timeout/' })
}

function triggerOf(flows: Flows, { flow, trigger }: { flow: string; trigger: string }) {
  const list = flows[flow]?.triggers
  const count = list?.length ?? 0
  for (let index = 0; index < count; index += 1) {
    if (list![index]!.id === trigger) return list![index]
  }
  return undefined
}

/** Where to go on: at a destination, with the answer to the waiting card, or after the card. */
type Start = { to: string | null } | { resume: true } | { after: true }

async function continueFrom(flowRun: FlowRun, start: Start): Promise<FlowResult['position']> {
  let card = 0
  if ('to' in start) {
    const step: Step = { kind: 'go', to: start.to }
    card = follow(flowRun, step, 0)
  } else {
    const frame = topFrame(flowRun)!
    const node = nodeOf(flowRun.flows[frame.flow]!, frame.node)
    card = node === undefined ? 0 : indexOfCard(node, frame.card)
    if ('after' in start) card += 1
  }
  let resumes = 'resume' in start
  for (;;) {
    const frame = topFrame(flowRun)
    if (frame === undefined) break
    // The flow below an interrupting one waits on.
    if (frame.waits !== undefined && !resumes) break
    const step = await next(flowRun, card, resumes)
    resumes = false
    if (step.kind === 'wait') break
    card = follow(flowRun, step, card)
  }
  return flowRun.position.frames.length === 0 ? null : newPositionOf(flowRun)
}

/** The position of the frames, as this event has made it. */
function newPositionOf(flowRun: FlowRun): FlowResult['position'] {
  const { id, userId } = flowRun.pipeline.run.shared.event
  flowRun.position.event = toWords(id)
  if (typeof userId === 'string') flowRun.position.userId = userId
  flowRun.position.version = flowRun.task.version
  showContext(flowRun)
  return flowRun.position
}

/** Runs the card at an index of the top frame's node, and says how the flow goes on. */
async function next(flowRun: FlowRun, index: number, resumes: boolean): Promise<Step> {
  const { pipeline, flows } = flowRun
  const frame = topFrame(flowRun)!
  const flow = flows[frame.flow]
  const node = flow && nodeOf(flow, frame.node)
  if (flow === undefined || node === undefined) {
    throw new NativeError(`The bot has no node '${frame.node}' in flow '${frame.flow}'`)
  }
  const card = node.cards[index]
  if (card === undefined) return { kind: 'go', to: node.next ?? null }
  flowRun.cards += 1
  if (flowRun.cards > maxCardsPerEvent) {
    throw flowLimit(`An event may run at most ${maxCardsPerEvent} cards; the last one was ${pathOf(frame, card)}`)
  }
  frame.card = card.id
  showContext(flowRun)
  const path = pathOf(frame, card)
  try {
    const perform = () => (resumes ? resumeCard(flowRun, flow, frame, card) : performCard(flowRun, flow, frame, card))
    const step = (await attributed(pipeline.run, path, perform)) as Step
    if (pipeline.run.ended) return await never()
    return toPort(card, step)
  } catch (error) {
    return failed(flowRun, flow, card, path, error)
  }
}

/** A port without a destination continues with the next card, except for the port `else` and the like, which do too. */
function toPort(card: Card, step: Step): Step {
  if (step.kind !== 'port') return step
  const to = portOf(card, step.port)
  return to === undefined ? { kind: 'next' } : { kind: 'go', to }
}

/**
 * A failed card leaves by its port `error`; without one, the flow continues at `onError`, then flow `error` begins. A
 * run that will be repeated fails first. Exceeded limits fail the event.
 */
function failed(flowRun: FlowRun, flow: Flow, card: Card, path: string, error: unknown): Step {
  const { flows, task } = flowRun
  const isLimit = reasonOf(error) !== 'error' || isFlowLimit(error)
  const to = portOf(card, 'error')
  const hasOther = flow.onError !== undefined && flow.onError !== null
  const hasErrorFlow = flows['error'] !== undefined && task.isLastAttempt && flow.id !== 'error'
  if (isLimit || (to === undefined && !hasOther && !hasErrorFlow)) throw error
  flowRun.pipeline.logger.error(`Card ${path} failed:`, error)
  setVariable(flowRun, 'temp.error', { message: messageOf(error), card: path })
  if (to !== undefined) return { kind: 'go', to }
  if (hasOther) return { kind: 'go', to: flow.onError! }
  return { kind: 'replace', flow: 'error' }
}

/** Flows may say it, so it has no secrets. */
function messageOf(error: unknown): string {
  const message = isObject(error) ? error['message'] : error
  return typeof message === 'string' ? sliceText(redact(message), 0, 1000) : 'The card threw a value that is no error'
}
