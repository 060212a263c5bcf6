import type { FlowFrame } from '../../protocol/flow-contract.ts'
import type { Json, JsonObject } from '../../protocol/contract.ts'
import { callSite } from '../call-site.ts'
import { setKnowledge } from '../client.ts'
import { followed } from '../run.ts'
import type { Stream } from '../streams.ts'
import {
  apply,
  assign,
  hasOwn,
  isArray,
  isNaN,
  isObject,
  keys,
  NativeError,
  NativePromise,
  NativeTypeError,
  now,
  parse,
  record,
  sliceText,
  stringify,
  toNumber,
} from '../primordials.ts'
import { isCancelled, matchOption, readAnswer, textOf, type Option } from './answers.ts'
import { call, conversationOf, next, openCalls, store, type Step } from './card-parts.ts'
import type { Card, Flow } from './definition.ts'
import {
  eventState,
  getVariable,
  onceInEvent,
  removeVariable,
  scopeOf,
  setVariable,
  stateParts,
  topFrame,
  type FlowRun,
} from './flow-run.ts'
import { askModel, routeByModel } from './model-cards.ts'
import { evaluate, holds, isPlain, toData, toWords } from './values.ts'

/** The longest title that a handover accepts, in characters. */
const maxTitle = 200

const defaultTimeoutSeconds = 1800
const defaultRetries = 3
/** Waits up to this long take place within the run. */
const shortWaitSeconds = 5

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

/** Continues a card that waits, with the message of the event. */
export async function resumeCard(flowRun: FlowRun, flow: Flow, frame: FlowFrame, card: Card): Promise<Step> {
  const { event } = flowRun.pipeline.run.shared
  const waits = frame.waits!
  delete frame.waits
  if (isCancelled(event, card)) return { kind: 'port', port: 'cancel' }
  if (card.type === 'choice') {
    const options = (waits.options as ArrayLike<Option> | undefined) ?? (await optionsOf(flowRun, card))
    const option = matchOption(event, options, card)
    if (option === undefined) return askAgain(flowRun, flow, frame, card, waits.tries, 'other')
    store(flowRun, card, option.value, 'variable')
    return { kind: 'port', port: option.value }
  }
  const answer = readAnswer(event, card['kind'])
  const isAccepted =
    answer !== undefined &&
    (card['validate'] === undefined || (await holds(card['validate'], scopeOf(flowRun, answer))))
  if (!isAccepted) return askAgain(flowRun, flow, frame, card, waits.tries, 'failed')
  return store(flowRun, card, answer, 'variable')
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

/** The outcome of a code card: its port, and the parts of the state that it has changed. */
interface CodeOutcome {
  port: string | null
  changed: Record<string, Json>
}

async function runCode(flowRun: FlowRun, frame: FlowFrame, card: Card): Promise<Step> {
  const { code } = card
  if (typeof code !== 'function') throw new NativeTypeError('The field code must be a function')
  const { client, scope } = await openCalls(flowRun, frame, card)
  const { port, changed } = await onceInEvent<CodeOutcome>(flowRun, scope, async () => {
    const before = partsOf(flowRun)
    const { pipeline } = flowRun
    const argument = assign(scopeOf(flowRun), {
      client,
      logger: pipeline.logger,
      state: pipeline.run.shared.event.state,
    })
    const returned = (await apply(code, undefined, [argument])) as unknown
    const after = partsOf(flowRun)
    const changed: Record<string, Json> = record({})
    for (const part in after) if (after[part] !== before[part]) changed[part] = parse(after[part]!) as Json
    return { port: typeof returned === 'string' ? returned : null, changed }
  })
  restoreParts(flowRun, changed)
  return port === null ? next : { kind: 'port', port }
}

/** The variables that code may change, as JSON. */
function partsOf(flowRun: FlowRun): Record<string, string> {
  const scope = scopeOf(flowRun)
  const parts: Record<string, string> = record({})
  const names = ['workflow', 'temp', ...stateParts]
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!
    try {
      parts[name] = stringify(scope[name]) ?? '{}'
    } catch {
      throw new NativeTypeError(`The variables of '${name}' cannot be converted to JSON`)
    }
  }
  return parts
}

/** Sets the parts to their value after the card: what code leaves in them is data from then on. */
function restoreParts(flowRun: FlowRun, changed: Record<string, Json>): void {
  const state = eventState(flowRun)
  const names = keys(changed)
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!
    const value = changed[name] as JsonObject
    if (name === 'workflow') topFrame(flowRun)!.variables = value
    else if (name === 'temp') flowRun.position.temp = value
    else state[name] = value
  }
}

type Message = { type: string; [field: string]: unknown }

/** The message of a card: a translation, one of its variants, or the message itself. */
async function messageOf(flowRun: FlowRun, card: Card, field = 'message'): Promise<Message | undefined> {
  const { translations, variants } = card as { translations?: Record<string, unknown>; variants?: ArrayLike<unknown> }
  const scope = scopeOf(flowRun)
  const { language } = scope['user'] as { language?: unknown }
  let chosen = card[field]
  if (field === 'message' && typeof language === 'string' && isObject(translations) && hasOwn(translations, language)) {
    chosen = translations[language]
  } else if (field === 'message' && variants !== undefined && variants.length > 0) {
    chosen = variants[pick(flowRun, card, variants.length)]
  }
  if (chosen === undefined) return undefined
  const message = await evaluate(chosen, scope)
  if (isObject(message) && !isArray(message)) return message as Message
  return { type: 'text', text: toWords(message) }
}

/** A number that differs between events and cards, and is the same when the event runs again. */
function pick(flowRun: FlowRun, card: Card, count: number): number {
  const seed = `${toWords(flowRun.pipeline.run.shared.event['id'])}/${card.id}`
  let hash = 0
  for (let index = 0; index < seed.length; index += 1) hash = (hash * 31 + codeOf(seed, index)) % 2_147_483_647
  return hash % count
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-/'

function codeOf(text: string, at: number): number {
  for (let index = 0; index < digits.length; index += 1) if (digits[index] === text[at]) return index
  return 0
}

/** Sends a message. The text of an empty one would be refused, so it is left out. */
async function say(flowRun: FlowRun, frame: FlowFrame, card: Card, message: Message | undefined): Promise<void> {
  if (message === undefined || (message.type === 'text' && message['text'] === '')) return
  const conversationId = conversationOf(flowRun, 'so the card can send no message')
  const { client } = await openCalls(flowRun, frame, card)
  const { type, payload } = toContent(message)
  await call(client, 'createMessage', { conversationId, type, payload })
}

/** A message as the platform's operation takes it: with a separate type, also for the items of a bloc. */
function toContent(message: Message): { type: string; payload: Record<string, unknown> } {
  const payload = assign({}, message) as Record<string, unknown>
  delete payload['type']
  const { items } = payload
  if (message.type === 'bloc' && isArray(items)) {
    const contents: unknown[] = []
    for (let index = 0; index < items.length; index += 1) contents[index] = toContent(items[index] as Message)
    payload['items'] = contents
  }
  return { type: message.type, payload }
}

/** Asks the question of a card, and waits for an answer. */
async function ask(flowRun: FlowRun, flow: Flow, frame: FlowFrame, card: Card, tries = 0): Promise<Step> {
  conversationOf(flowRun, 'so the card can wait for no answer')
  const question = await messageOf(flowRun, card)
  let options: ArrayLike<Option> | undefined
  if (card.type === 'choice') {
    options = await optionsOf(flowRun, card)
    await say(flowRun, frame, card, withOptions(question, options, card['as']))
  } else await say(flowRun, frame, card, question)
  const seconds = flow.timeout?.seconds ?? defaultTimeoutSeconds
  frame.waits = {
    for: 'answer',
    until: seconds === 0 ? null : now() + seconds * 1000,
    tries,
    ...(options !== undefined && typeof card['options'] === 'function' && { options: options as unknown as Json }),
  }
  return { kind: 'wait' }
}

/** The options of a choice, with the values of their expressions. */
async function optionsOf(flowRun: FlowRun, card: Card): Promise<ArrayLike<Option>> {
  const options = toData(await evaluate(card['options'], scopeOf(flowRun)), parse)
  if (!isArray(options) || options.length === 0) throw new NativeTypeError('The options of a choice must be a list')
  for (let index = 0; index < options.length; index += 1) {
    const option: unknown = options[index]
    if (isObject(option) && typeof option['label'] === 'string' && typeof option['value'] === 'string') continue
    throw new NativeTypeError('Each option of a choice has a label and a value, which are texts')
  }
  return options
}

function withOptions(question: Message | undefined, options: ArrayLike<Option>, as: unknown): Message {
  const text = typeof question?.['text'] === 'string' ? question['text'] : ''
  let list = text
  const shown: { label: string; value: string }[] = []
  for (let index = 0; index < options.length; index += 1) {
    const { label, value } = options[index]!
    shown[index] = { label, value }
    list += `${list === '' ? '' : '\n'}${index + 1}. ${label}`
  }
  if (as === 'text') return { type: 'text', text: list }
  return { type: as === 'dropdown' ? 'dropdown' : 'choice', text: text === '' ? '?' : text, options: shown }
}

async function askAgain(
  flowRun: FlowRun,
  flow: Flow,
  frame: FlowFrame,
  card: Card,
  tries: number,
  port: 'other' | 'failed',
): Promise<Step> {
  const retries = typeof card['retries'] === 'number' ? card['retries'] : defaultRetries
  if (tries >= retries) {
    if (card.type === 'choice' && typeof card['variable'] === 'string') {
      setVariable(flowRun, card['variable'], textOf(flowRun.pipeline.run.shared.event).text)
    }
    return { kind: 'port', port }
  }
  await say(flowRun, frame, card, await messageOf(flowRun, card, 'retryMessage'))
  return ask(flowRun, flow, frame, card, tries + 1)
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
    ...(seconds > 0 && { schedule: { delay: seconds * 1000 } }),
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
    await call(client, 'searchFiles', { query: question, limit, ...(tags && { tags }) })
    return toData(shared.event['kb'], parse) as Knowledge
  })
  setKnowledge(flowRun.pipeline.run, kb)
  store(flowRun, card, kb.results)
  return kb.results.length === 0 ? { kind: 'port', port: 'none' } : next
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

/** Makes the request of an `http` card. @returns its status and body; a failed request throws */
async function request(flowRun: FlowRun, card: Card, field: (name: string) => Promise<unknown>): Promise<Json> {
  const { run } = flowRun.pipeline
  const given = await field('headers')
  const headers: Record<string, string> = record({})
  if (isPlain(given)) for (const name in given) if (hasOwn(given, name)) headers[name] = toWords(given[name])
  const content = await field('body')
  const isText = typeof content === 'string'
  const sent = content === undefined ? undefined : isText ? content : stringify(content)
  if (sent !== undefined && !isText && !hasOwn(headers, 'content-type')) headers['content-type'] = 'application/json'
  const text = stringify(
    record({
      method: card['method'] ?? 'GET',
      url: toWords(await field('url')),
      headers,
      redirect: 'follow',
      body: sent,
    }),
  )
  const { answer, body, stream } = await run.fetches.begin(text, callSite(request)).answer
  if (hasOwn(answer, 'failure')) throw new NativeError((answer as { message: string }).message)
  const { status, isBase64 } = answer as { status: number; isBase64?: boolean }
  const whole = stream === undefined ? body : await readWhole(followed(run, stream))
  return { status, body: isBase64 === true ? whole : parsedOr(whole) }
}

/** Upper bound of a body that an `http` card reads; code cards read larger ones in parts. */
const maxBodyCharacters = 1_000_000

async function readWhole(stream: Stream): Promise<string> {
  let text = ''
  for (;;) {
    const { data, failure } = await stream.next('text')
    if (failure !== undefined) throw new NativeError(failure.message)
    if (data === undefined) return text
    if (typeof data !== 'string') {
      stream.cancel()
      throw new NativeTypeError('The body of the answer is no text')
    }
    text += data
    if (text.length <= maxBodyCharacters) continue
    stream.cancel()
    throw new NativeTypeError(`The body of the answer has more than ${maxBodyCharacters} characters`)
  }
}

/** JSON as its value, anything else as text. */
function parsedOr(text: string): Json {
  try {
    return parse(text) as Json
  } catch {
    return text
  }
}
