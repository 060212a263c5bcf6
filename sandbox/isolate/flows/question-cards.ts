import type { FlowFrame } from '../../protocol/flow-contract.ts'
import type { Json } from '../../protocol/contract.ts'
import { isArray, isObject, NativeTypeError, now, parse } from '../primordials.ts'
import { isCancelled, matchOption, readAnswer, textOf, type Option } from './answers.ts'
import { conversationOf, store, type Step } from './card-parts.ts'
import type { Card, Flow } from './definition.ts'
import { scopeOf, setVariable, type FlowRun } from './flow-run.ts'
import { messageOf, say, type Message } from './messages.ts'
import { evaluate, holds, toData } from './values.ts'

/** Cards that ask a question and wait for its answer: `choice` and `capture`. */

const defaultTimeoutSeconds = 1800
const defaultRetries = 3

/** Asks the question of a card, and waits for an answer. */
export async function ask(flowRun: FlowRun, flow: Flow, frame: FlowFrame, card: Card, tries = 0): Promise<Step> {
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
