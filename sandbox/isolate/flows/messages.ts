import type { FlowFrame } from '../../protocol/flow-contract.ts'
import { assign, hasOwn, isArray, isObject } from '../primordials.ts'
import { call, conversationOf, openCalls } from './card-parts.ts'
import type { Card } from './definition.ts'
import { scopeOf, type FlowRun } from './flow-run.ts'
import { evaluate, toWords } from './values.ts'

/** The messages of cards: how they are chosen, and how they are sent. */

export type Message = { type: string; [field: string]: unknown }

/** The message of a card: a translation, one of its variants, or the message itself. */
export async function messageOf(flowRun: FlowRun, card: Card, field = 'message'): Promise<Message | undefined> {
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
export async function say(flowRun: FlowRun, frame: FlowFrame, card: Card, message: Message | undefined): Promise<void> {
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
