import type { FlowFrame } from '../../protocol/flow-contract.ts'
import type { Json } from '../../protocol/contract.ts'
import type { Client } from '../client.ts'
import {
  dateToIso,
  hasOwn,
  indexIn,
  isArray,
  isObject,
  lowerCase,
  NativeDate,
  NativeError,
  parse,
  record,
  sliceText,
  trimText,
} from '../primordials.ts'
import { textOf } from './answers.ts'
import { call, conversationOf, openCalls, store, type Step } from './card-parts.ts'
import type { Card } from './definition.ts'
import { onceInEvent, scopeOf, type FlowRun } from './flow-run.ts'
import { evaluate, toWords } from './values.ts'

/** The cards that ask language models. */

/** Upper bound of the messages of the conversation that a model sees: those of one page of a list. */
const maxHistory = 20

/** Card `ai`: sends the answer of a model while it is written, or stores it. */
export async function askModel(flowRun: FlowRun, frame: FlowFrame, card: Card): Promise<Step> {
  const isSent = card['say'] ?? (card['output'] === undefined && card['schema'] === undefined)
  const conversationId = isSent === true ? conversationOf(flowRun, 'so the card can send no answer') : undefined
  const { client, scope } = await openCalls(flowRun, frame, card)
  const answer = await onceInEvent<Json>(flowRun, scope, async () => {
    const question = await questionOf(flowRun, client, card)
    const { schema } = card
    const input = schema === undefined ? question : { ...question, responseSchema: schema }
    if (conversationId !== undefined && schema === undefined) return sayAnswer(client, conversationId, input)
    const text = outputOf(await call(client, 'generateText', input))
    if (conversationId !== undefined && text !== '') {
      await call(client, 'createMessage', { conversationId, type: 'text', payload: { text } })
    }
    return schema === undefined ? text : parseAnswer(text)
  })
  return store(flowRun, card, answer)
}

/** Card `aiRouter`: the model names the port. */
export async function routeByModel(flowRun: FlowRun, frame: FlowFrame, card: Card): Promise<Step> {
  const { client, scope } = await openCalls(flowRun, frame, card)
  const cases = card['cases'] as ArrayLike<{ port: string; description: unknown }>
  const port = await onceInEvent<string>(flowRun, scope, async () => {
    const ports: string[] = []
    let list = ''
    for (let index = 0; index < cases.length; index += 1) {
      ports[index] = cases[index]!.port
      list += `\n- ${cases[index]!.port}: ${toWords(await evaluate(cases[index]!.description, scopeOf(flowRun)))}`
    }
    ports[cases.length] = 'else'
    const { systemPrompt, ...question } = await questionOf(flowRun, client, card)
    const rules = `Choose the case that fits the last message of the user, or else if none fits.${list}`
    const answer = await call(client, 'generateText', {
      ...question,
      temperature: card['temperature'] ?? 0,
      systemPrompt: systemPrompt === undefined ? rules : `${systemPrompt}\n\n${rules}`,
      responseSchema: {
        type: 'object',
        properties: { case: { type: 'string', enum: ports } },
        required: ['case'],
        additionalProperties: false,
      },
    })
    return portIn(outputOf(answer), ports)
  })
  store(flowRun, card, port)
  return { kind: 'port', port }
}

interface Question {
  messages: { role: 'user' | 'assistant'; content: string }[]
  systemPrompt?: string
  [field: string]: unknown
}

/** The fields of a call of models that the card's fields give. */
async function questionOf(flowRun: FlowRun, client: Client, card: Card): Promise<Question> {
  const scope = scopeOf(flowRun)
  const { event } = flowRun.pipeline.run.shared
  const asked =
    card['question'] === undefined ? textOf(event).text : trimText(toWords(await evaluate(card['question'], scope)))
  if (asked === '') {
    throw new NativeError(
      card['question'] === undefined
        ? 'The question is empty: the event has no text, so the card needs a question'
        : 'The question is empty: the field question of the card has no text',
    )
  }
  const messages = await historyOf(flowRun, client, card)
  messages[messages.length] = { role: 'user', content: asked }
  let systemPrompt = toWords(await evaluate(card['instructions'], scope))
  if (card['knowledge'] === true) systemPrompt += `${systemPrompt === '' ? '' : '\n\n'}${passagesOf(event['kb'])}`
  const question: Question = record({ messages })
  if (systemPrompt !== '') question.systemPrompt = systemPrompt
  const same = ['model', 'temperature', 'maxTokens']
  for (let index = 0; index < same.length; index += 1) {
    const name = same[index]!
    if (card[name] !== undefined) question[name] = card[name]
  }
  return question
}

/** The results of the event's last search, as instructions. */
function passagesOf(kb: unknown): string {
  const results = isObject(kb) ? kb['results'] : undefined
  let text = 'Answer only from these passages. If they do not contain the answer, say that you do not know.'
  if (!isArray(results)) return text
  for (let index = 0; index < results.length; index += 1) {
    const result: unknown = results[index]
    if (isObject(result) && typeof result['content'] === 'string') text += `\n\n---\n${result['content']}`
  }
  return text
}

/** The last messages of the conversation before that of the event, which a repeated run finds again, oldest first. */
async function historyOf(flowRun: FlowRun, client: Client, card: Card): Promise<Question['messages']> {
  const { history = 0 } = card as { history?: number } & Card
  const { conversationId, messageId, createdOn } = flowRun.pipeline.run.shared.event
  if (history === 0 || typeof conversationId !== 'string') return []
  const answer = await call(client, 'listMessages', { conversationId })
  const listed = isObject(answer) ? answer['messages'] : undefined
  if (!isArray(listed)) return []
  const last: Question['messages'] = []
  let isBefore = typeof messageId !== 'string'
  for (let index = 0; index < listed.length && last.length < history && last.length < maxHistory; index += 1) {
    const message: unknown = listed[index]
    if (!isObject(message)) continue
    const { id, direction, payload, createdAt } = message
    const isText = isObject(payload) && typeof payload['text'] === 'string' && payload['text'] !== ''
    const isEarlier = isBefore && !(typeof messageId !== 'string' && isAfter(createdAt, createdOn))
    if (isEarlier && isText) {
      const role = direction === 'outgoing' ? 'assistant' : 'user'
      last[last.length] = { role, content: payload['text'] as string }
    }
    if (id === messageId) isBefore = true
  }
  const ordered: Question['messages'] = []
  for (let index = last.length - 1; index >= 0; index -= 1) ordered[ordered.length] = last[index]!
  return ordered
}

/** Whether a time of the platform, in ISO 8601, is at or after that of the event. */
function isAfter(createdAt: unknown, createdOn: unknown): boolean {
  return typeof createdAt === 'string' && createdOn instanceof NativeDate && createdAt >= dateToIso(createdOn)
}

interface MessageStream {
  write(text: string): Promise<void>
  end(): Promise<unknown>
  abort(): Promise<void>
}

/** Sends an answer of a model while the model writes it. @returns its text */
async function sayAnswer(client: Client, conversationId: string, input: object): Promise<string> {
  const { generateTextStream, streamMessage } = client as {
    generateTextStream(input: object): AsyncGenerator<unknown, void, void>
    streamMessage(conversationId: string): MessageStream
  }
  let message: MessageStream | undefined
  let text = ''
  try {
    for await (const chunk of generateTextStream(input)) {
      const output = outputOf(chunk)
      if (output === '') continue
      message ??= streamMessage(conversationId)
      text += output
      await message.write(output)
    }
  } catch (error) {
    await message?.abort()
    throw error
  }
  // A message without words would be refused.
  if (message !== undefined && trimText(text) !== '') await message.end()
  else await message?.abort()
  return text
}

function outputOf(answer: unknown): string {
  return isObject(answer) && typeof answer['output'] === 'string' ? answer['output'] : ''
}

function parseAnswer(text: string): Json {
  try {
    return parse(text) as Json
  } catch {
    throw new NativeError(`The answer of the model is no JSON: ${sliceText(text, 0, 200)}`)
  }
}

/** The port that an answer names; `else` when it names none. */
function portIn(text: string, ports: readonly string[]): string {
  let named = trimText(text)
  try {
    const answer: unknown = parse(text)
    if (isObject(answer) && hasOwn(answer, 'case')) named = toWords(answer['case'])
  } catch {
    // Some models write the name alone, or words around it.
  }
  const given = lowerCase(trimText(named))
  for (let index = 0; index < ports.length; index += 1) if (lowerCase(ports[index]!) === given) return ports[index]!
  let found: string | undefined
  for (let index = 0; index < ports.length; index += 1) {
    if (indexIn(given, lowerCase(ports[index]!)) === -1) continue
    if (found !== undefined) return 'else'
    found = ports[index]!
  }
  return found ?? 'else'
}
