import type { FlowFrame } from '../../protocol/flow-contract.ts'
import type { Json } from '../../protocol/contract.ts'
import { setKnowledge } from '../client.ts'
import {
  isNaN,
  isObject,
  keys,
  NativeError,
  NativePromise,
  NativeTypeError,
  now,
  parse,
  sliceText,
  toNumber,
} from '../primordials.ts'
import { call, conversationOf, next, openCalls, store, type Step } from './card-parts.ts'
import { runCode } from './code-card.ts'
import type { Card, Flow } from './definition.ts'
import { getVariable, onceInEvent, removeVariable, scopeOf, setVariable, type FlowRun } from './flow-run.ts'
import { request } from './http-card.ts'
import { messageOf, say } from './messages.ts'
import { askModel, routeByModel } from './model-cards.ts'
import { ask } from './question-cards.ts'
import { evaluate, holds, isPlain, toData, toWords } from './values.ts'

/** Cards by their type. The longer ones have modules of their own. */

/** The longest title that a handover accepts, in characters. */
const maxTitle = 200
/** The bound of the query of `searchFiles`. */
const maxQueryBytes = 2048
/** Waits up to this long take place within the run. */
const shortWaitSeconds = 5
/** The longest delay of an event. */
const maxDelaySeconds = 30 * 24 * 60 * 60

/** Runs a card. */
export async function performCard(flowRun: FlowRun, flow: Flow, frame: FlowFrame, card: Card): Promise<Step> {
  const field = (name: string) => evaluate(card[name], scopeOf(flowRun))
  switch (card.type) {
    case 'say':
      await say(flowRun, frame, card, await messageOf(flowRun, card))
      return next
    case 'choice':
      return ask(flowRun, flow, frame, card)
    case 'capture':
      if (card['skipWhenFilled'] === true && isFilled(getVariable(flowRun, card['variable'] as string))) return next
      return ask(flowRun, flow, frame, card)
    case 'condition':
      return { kind: 'port', port: (await holds(card['if'], scopeOf(flowRun))) ? 'true' : 'false' }
    case 'router':
      return { kind: 'port', port: await firstCase(flowRun, card) }
    case 'set':
      return setVariables(flowRun, card)
    case 'code':
      return runCode(flowRun, frame, card)
    case 'action': {
      const { client, scope } = await openCalls(flowRun, frame, card)
      const output = await onceInEvent(flowRun, scope, async () => {
        const answer = await call(client, 'callAction', { type: card['action'], input: (await field('input')) ?? {} })
        return isObject(answer) ? (answer['output'] ?? null) : null
      })
      return store(flowRun, card, output)
    }
    case 'http': {
      const { scope } = await openCalls(flowRun, frame, card)
      return store(flowRun, card, await onceInEvent(flowRun, scope, () => request(flowRun, card, field)))
    }
    case 'call': {
      const input = await field('input')
      return { kind: 'call', flow: card['flow'] as string, input: isPlain(input) ? input : {} }
    }
    case 'jump':
      return { kind: 'go', to: card['to'] as string | null }
    case 'wait':
      return wait(flowRun, frame, toNumber(await field('seconds')))
    case 'emit':
      return emit(flowRun, frame, card, field)
    case 'knowledge':
      return findKnowledge(flowRun, frame, card, toWords(await field('question')))
    case 'ai':
      return askModel(flowRun, frame, card)
    case 'aiRouter':
      return routeByModel(flowRun, frame, card)
    case 'handover':
      return handOver(flowRun, frame, card, toWords(await field('reason')))
    case 'log': {
      const level = (card['level'] ?? 'info') as 'info'
      flowRun.pipeline.logger[level](toWords(await field('message')))
      return next
    }
    case 'end':
      return { kind: 'end' }
    case 'comment':
      return next
    default:
      throw new NativeError(`There is no type of cards '${card.type}'`)
  }
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

async function firstCase(flowRun: FlowRun, card: Card): Promise<string> {
  const cases = card['cases'] as ArrayLike<{ port: string; if: unknown }>
  for (let index = 0; index < cases.length; index += 1) {
    if (await holds(cases[index]!.if, scopeOf(flowRun))) return cases[index]!.port
  }
  return 'else'
}

async function setVariables(flowRun: FlowRun, card: Card): Promise<Step> {
  const { values, remove } = card as { values?: Record<string, unknown>; remove?: ArrayLike<string> } & Card
  const names = values === undefined ? [] : keys(values)
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!
    setVariable(flowRun, name, await evaluate(values![name], scopeOf(flowRun)))
  }
  const count = remove?.length ?? 0
  for (let index = 0; index < count; index += 1) removeVariable(flowRun, remove![index]!)
  return next
}

async function wait(flowRun: FlowRun, frame: FlowFrame, seconds: number): Promise<Step> {
  if (isNaN(seconds) || seconds < 0 || seconds > 366 * 24 * 60 * 60) {
    throw new NativeTypeError('A card waits for 0 seconds to 366 days')
  }
  const milliseconds = seconds * 1000
  const isShort = flowRun.waited + milliseconds <= shortWaitSeconds * 1000
  if (isShort) {
    flowRun.waited += milliseconds
    if (milliseconds > 0)
      await new NativePromise<void>((resolve) => void flowRun.pipeline.setTimeout(resolve, milliseconds))
    return next
  }
  conversationOf(flowRun, `so a card waits for at most ${shortWaitSeconds} seconds`)
  frame.waits = { for: 'time', until: now() + milliseconds, tries: 0 }
  return { kind: 'wait' }
}

/** @param field evaluates a field of the card */
async function emit(
  flowRun: FlowRun,
  frame: FlowFrame,
  card: Card,
  field: (name: string) => Promise<unknown>,
): Promise<Step> {
  const payload = await field('payload')
  const seconds = toNumber((await field('delaySeconds')) ?? 0)
  if (isNaN(seconds) || seconds < 0 || seconds > maxDelaySeconds) {
    throw new NativeTypeError('A card delays an event by 0 seconds to 30 days')
  }
  const milliseconds = seconds * 1000 + 0.5
  const named = card['conversation'] === undefined ? undefined : toWords(await field('conversation'))
  const { client } = await openCalls(flowRun, frame, card)
  const { event } = flowRun.pipeline.run.shared
  const conversationId = named ?? event['conversationId']
  // The user of the event need not belong to another conversation.
  const userId = named === undefined || named === event['conversationId'] ? event['userId'] : undefined
  await call(client, 'createEvent', {
    type: card['event'],
    payload: isPlain(payload) ? payload : {},
    ...(typeof conversationId === 'string' && { conversationId }),
    ...(typeof userId === 'string' && { userId }),
    // The operation takes whole milliseconds, and 2.01 * 1000 is none of them.
    ...(seconds > 0 && { schedule: { delay: milliseconds - (milliseconds % 1) } }),
  })
  return next
}

/** The outcome of a search: the value of `event.kb` after it. */
interface Knowledge {
  results: Json[]
  included: Json
}

async function findKnowledge(flowRun: FlowRun, frame: FlowFrame, card: Card, question: string): Promise<Step> {
  const { client, scope } = await openCalls(flowRun, frame, card)
  const { shared } = flowRun.pipeline.run
  const { knowledgeBases, limit = 5 } = card as { knowledgeBases?: Json; limit?: number } & Card
  const kb = await onceInEvent<Knowledge>(flowRun, scope, async () => {
    if (question === '') return { included: [], results: [] }
    const tags = knowledgeBases === undefined ? undefined : { kbName: knowledgeBases }
    await call(client, 'searchFiles', { query: searchedPart(question), limit, ...(tags && { tags }) })
    return toData(shared.event['kb'], parse) as Knowledge
  })
  setKnowledge(flowRun.pipeline.run, kb)
  store(flowRun, card, kb.results)
  return kb.results.length === 0 ? { kind: 'port', port: 'none' } : next
}

/** The beginning of a question that a search takes, in whole characters: messages of users may be longer. */
function searchedPart(question: string): string {
  let bytes = 0
  for (let index = 0; index < question.length; index++) {
    const unit = question[index]!
    const isFirstHalf = unit >= '\ud800' && unit < '\udc00'
    const isSecondHalf = unit >= '\udc00' && unit < '\ue000'
    // The first half of a pair counts for both.
    bytes += unit < '\x80' ? 1 : unit < '\u0800' ? 2 : isFirstHalf ? 4 : isSecondHalf ? 0 : 3
    if (bytes > maxQueryBytes) return sliceText(question, 0, index)
  }
  return question
}

async function handOver(flowRun: FlowRun, frame: FlowFrame, card: Card, reason: string): Promise<Step> {
  const { userId } = flowRun.pipeline.run.shared.event
  const conversationId = conversationOf(flowRun, 'so the card can hand none over')
  const { client } = await openCalls(flowRun, frame, card)
  await call(client, 'handover', { conversationId, ...(reason !== '' && { title: sliceText(reason, 0, maxTitle) }) })
  const place = { conversationId, flow: frame.flow, node: frame.node }
  const payload = { ...place, ...(reason !== '' && { reason }), ...(typeof userId === 'string' && { userId }) }
  await call(client, 'createEvent', { type: 'handover_started', payload })
  frame.waits = { for: 'handover', until: null, tries: 0 }
  return { kind: 'wait' }
}
