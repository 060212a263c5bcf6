import { toStorable } from '../../models/storable.ts'
import type { GenerateTextInput, GenerateTextOutput, ModelMessage } from '../../models/language-model.ts'

/** Upper bounds of a text that is kept, in characters: its start, and its end, where the last messages are. */
const beginCharacters = 4000
const endCharacters = 12_000

/** A question to language models as a text for people, with a line before each message that names its role. */
export function promptText({ systemPrompt, messages, tools = [] }: GenerateTextInput): string {
  const parts = [
    ...(systemPrompt === undefined ? [] : [`system:\n${systemPrompt}`]),
    ...(tools.length > 0 ? [`tools: ${tools.map(({ name }) => name).join(', ')}`] : []),
    ...messages.map((message) => `${message.role}:\n${contentOf(message)}`),
  ]
  return bounded(parts.join('\n\n'))
}

/** An answer of a language model as a text for people. */
export function answerText({ output, toolCalls = [] }: GenerateTextOutput): string {
  const calls = toolCalls.map(({ name, input }) => `${name}(${JSON.stringify(input)})`)
  return bounded([...(output === '' ? [] : [output]), ...calls].join('\n'))
}

function contentOf({ content, toolCalls, toolResultCallId }: ModelMessage): string {
  const texts = Array.isArray(content)
    ? content.map(({ type, text }) => (type === 'text' ? (text ?? '') : `[${type}]`))
    : [content ?? '']
  const calls = (toolCalls ?? []).map(({ function: called }) => `${called.name}(${JSON.stringify(called.arguments)})`)
  const result = toolResultCallId === undefined ? [] : [`result of ${toolResultCallId}:`]
  return [...result, ...texts, ...calls].filter((text) => text !== '').join('\n')
}

/** A text for people, without the middle of a long one. */
export function bounded(text: string): string {
  const leftOut = text.length - beginCharacters - endCharacters
  const whole =
    leftOut <= 0
      ? text
      : `${text.slice(0, beginCharacters)}\n… ${leftOut} characters are left out …\n${text.slice(-endCharacters)}`
  return toStorable(whole)
}
