import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider'
import type { ModelProvider } from '../config/models-settings.ts'
import { ApiError } from '../errors.ts'
import type { GenerateTextInput, ModelMessage } from '../models/language-model.ts'

type Role<R extends LanguageModelV4Message['role']> = Extract<LanguageModelV4Message, { role: R }>
type UserPart = Role<'user'>['content'][number]
type Call = Omit<LanguageModelV4CallOptions, 'abortSignal'>

const jsonInstruction = 'Answer with one JSON value and nothing else.'

/**
 * Turns the input of `generateText` into the call of a provider's library.
 *
 * @throws ApiError `InvalidPayload` when a message contradicts its type
 */
export function toCall(input: GenerateTextInput, provider: ModelProvider): Call {
  const { temperature, maxTokens, tools = [], toolControl, reasoningEffort, responseSchema } = input
  const stopSequences = stopsOf(input)
  const mode = toolControl?.mode
  return {
    prompt: toPrompt(input, provider),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(stopSequences.length > 0 && { stopSequences }),
    // One provider has no JSON mode without a schema: the instruction alone has to suffice.
    ...(wantsJson(input) && (responseSchema !== undefined || provider.kind !== 'anthropic')
      ? { responseFormat: { type: 'json', ...(responseSchema && { schema: responseSchema }) } }
      : {}),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters, strict }) => ({
        type: 'function',
        name,
        inputSchema: parameters ?? { type: 'object', properties: {} },
        ...(description !== undefined && { description }),
        ...(strict !== undefined && { strict }),
      })),
    }),
    ...(tools.length > 0 && mode !== undefined && { toolChoice: toToolChoice(mode, toolControl?.toolName) }),
    ...(reasoningEffort !== undefined && {
      reasoning: reasoningEffort === 'dynamic' ? 'provider-default' : reasoningEffort,
    }),
    providerOptions: optionsOf(provider, tools.length > 0 && toolControl?.parallel === false),
  }
}

/** The sequences before the first of which an answer ends. */
export function stopsOf({ stopSequences = [] }: GenerateTextInput): string[] {
  return typeof stopSequences === 'string' ? [stopSequences] : [...stopSequences]
}

function wantsJson({ responseFormat = 'text', responseSchema }: GenerateTextInput): boolean {
  return responseFormat !== 'text' || responseSchema !== undefined
}

function toToolChoice(
  mode: NonNullable<GenerateTextInput['toolControl']>['mode'],
  toolName: string | undefined,
): NonNullable<Call['toolChoice']> {
  if (mode !== 'specific') return { type: mode }
  if (toolName !== undefined) return { type: 'tool', toolName }
  throw new ApiError('InvalidPayload', 'toolControl.toolName must name the tool of the mode specific')
}

/** Options that only some providers have. Schemas of bots are rarely as strict as strict modes demand. */
function optionsOf({ kind, name }: ModelProvider, isSerial: boolean): NonNullable<Call['providerOptions']> {
  switch (kind) {
    case 'openai':
      return { openai: { strictJsonSchema: false, store: false, ...(isSerial && { parallelToolCalls: false }) } }
    case 'anthropic':
      return isSerial ? { anthropic: { disableParallelToolUse: true } } : {}
    case 'google':
      return {}
    case 'compatible':
      return {
        openaiCompatible: { strictJsonSchema: false },
        ...(isSerial && { [name]: { parallel_tool_calls: false } }),
      }
  }
}

function toPrompt(input: GenerateTextInput, provider: ModelProvider): LanguageModelV4Message[] {
  const { systemPrompt, messages } = input
  const leading = messages.findIndex(({ role }) => role !== 'system')
  const isLeading = (index: number) => leading === -1 || index < leading
  // Some providers take instructions at the start only.
  const instructions = [
    systemPrompt,
    ...messages.flatMap((message, index) => (isLeading(index) ? textOf(message, index) : [])),
    wantsJson(input) ? jsonInstruction : undefined,
  ].filter((text) => text !== undefined && text !== '')
  const calls = new Map<string, string>()
  const prompt: LanguageModelV4Message[] = messages.flatMap((message, index) =>
    isLeading(index) ? [] : toMessage(message, index, { calls, provider }),
  )
  return instructions.length > 0 ? [{ role: 'system', content: instructions.join('\n\n') }, ...prompt] : prompt
}

/** @param calls names of the tools that were called before, by the id of the call */
function toMessage(
  message: ModelMessage,
  index: number,
  { calls, provider }: { calls: Map<string, string>; provider: ModelProvider },
): LanguageModelV4Message {
  const { role, type = 'text', toolCalls = [], toolResultCallId } = message
  if (type === 'tool_calls') {
    for (const call of toolCalls) calls.set(call.id, call.function.name)
    const text = message.content === null || message.content === undefined ? '' : textOf(message, index)
    return {
      role: 'assistant',
      content: [
        ...(text === '' ? [] : [{ type: 'text', text } as const]),
        ...toolCalls.map(
          ({ id, function: { name, arguments: given } }) =>
            ({ type: 'tool-call', toolCallId: id, toolName: name, input: given ?? {} }) as const,
        ),
      ],
    }
  }
  if (type === 'tool_result') {
    const toolName = toolResultCallId === undefined ? undefined : calls.get(toolResultCallId)
    if (toolResultCallId === undefined || toolName === undefined) {
      throw new ApiError(
        'InvalidPayload',
        `messages.${index}.toolResultCallId must be the id of a tool call of an earlier message`,
      )
    }
    const output = { type: 'text', value: textOf(message, index) } as const
    return { role: 'tool', content: [{ type: 'tool-result', toolCallId: toolResultCallId, toolName, output }] }
  }
  // Later instructions have no place of their own with every provider.
  if (role !== 'assistant') return { role: 'user', content: partsOf(message, index, provider) }
  return { role: 'assistant', content: [{ type: 'text', text: textOf(message, index) }] }
}

function textOf({ content = null }: ModelMessage, index: number): string {
  if (content === null) return ''
  if (typeof content === 'string') return content
  if (content.every(({ type }) => type === 'text')) return content.map(({ text = '' }) => text).join('\n')
  throw new ApiError('InvalidPayload', `messages.${index}.content must be text: only users send images and audio`)
}

function partsOf({ content = null }: ModelMessage, index: number, provider: ModelProvider): UserPart[] {
  if (content === null || typeof content === 'string') return [{ type: 'text', text: content ?? '' }]
  return content.map(({ type, text, url, mimeType }, position) => {
    const path = `messages.${index}.content.${position}`
    if (type === 'text') return { type: 'text', text: text ?? '' }
    const given = url === undefined ? null : URL.parse(url)
    if (given?.protocol === 'data:') return { type: 'file', ...dataOf(given, path) }
    // The provider fetches it. The platform does not, nor does an endpoint of the operator's own network: the address is
    // the sender's choice.
    if (given?.protocol === 'https:' && type === 'image' && provider.kind !== 'compatible') {
      return { type: 'file', mediaType: mimeType ?? 'image/*', data: { type: 'url', url: given } }
    }
    const others = type === 'image' && provider.kind !== 'compatible' ? 'an https URL, ' : ''
    const forms = `${others}a data URL in base64 or the url of a file of the platform`
    throw new ApiError('InvalidPayload', `${path}.url must be ${forms}`)
  })
}

function dataOf({ href }: URL, path: string): Pick<Extract<UserPart, { type: 'file' }>, 'mediaType' | 'data'> {
  const [, mediaType, data] = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=-]+)*;base64,([A-Za-z0-9+/]*={0,2})$/.exec(href) ?? []
  if (mediaType === undefined || !data) {
    throw new ApiError('InvalidPayload', `${path}.url must be a data URL with a media type and base64`)
  }
  return { mediaType, data: { type: 'data', data } }
}
