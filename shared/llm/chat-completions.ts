import { ApiError } from '../errors.ts'
import { parseBody } from '../json/parse-body.ts'
import type { ChatCompletion, ChatCompletionInput } from '../models/chat-completion.ts'
import type { GenerateTextInput, GenerateTextOutput, ModelMessage, StopReason } from '../models/language-model.ts'
import { isRecord } from '../models/payload.ts'
import { fullName, type LibraryWire } from './library-wire.ts'

type Message = ChatCompletionInput['messages'][number]
type FinishReason = ChatCompletion['choices'][number]['finish_reason']

/** OpenAI's Chat Completions API, which also libraries of other makers speak. */
export const chatCompletions: LibraryWire<ChatCompletionInput> = {
  toInput(body) {
    const { model, messages, temperature, max_tokens, max_completion_tokens, stop, reasoning_effort: effort } = body
    const maxTokens = max_completion_tokens ?? max_tokens
    return {
      model: fullName(model, 'openai'),
      messages: messages.map(toMessage),
      ...(temperature != null && { temperature }),
      ...(maxTokens != null && { maxTokens }),
      ...(stop != null && { stopSequences: stop }),
      ...(effort != null && { reasoningEffort: efforts[effort] }),
      ...formatOf(body),
      ...toolsOf(body),
    }
  },

  toAnswer({ output, toolCalls, metadata }, { id }): ChatCompletion {
    const message = {
      role: 'assistant',
      content: output === '' && toolCalls ? null : output,
      refusal: null,
      ...(toolCalls && { tool_calls: toolCalls.map(toToolCall) }),
    } as const
    return {
      id: `chatcmpl-${id}`,
      object: 'chat.completion',
      created: seconds(),
      model: metadata.model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasons[metadata.stopReason] }],
      usage: usageOf(metadata),
    }
  },

  toLines({ stream_options: options }, { id, model }) {
    const head = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: seconds() }
    let answering = model
    const line = (delta: object, finish_reason: FinishReason | null = null) => ({
      ...head,
      model: answering,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    })
    let hasBegun = false
    return ({ output, toolCalls = [], finished, metadata, error }) => {
      const begin = hasBegun ? [] : [line({ role: 'assistant', content: '' })]
      hasBegun = true
      const text = output === '' ? [] : [line({ content: output })]
      if (!finished) return [...begin, ...text]
      if (error !== undefined) return [{ error: { type: 'Runtime', code: 'UPSTREAM_PROVIDER_FAILED', message: error } }]
      answering = metadata!.model
      const calls = toolCalls.map((call, index) => line({ tool_calls: [{ index, ...toToolCall(call) }] }))
      const usage = { ...head, model: answering, choices: [], usage: usageOf(metadata!) }
      return [
        ...begin,
        ...text,
        ...calls,
        line({}, finishReasons[metadata!.stopReason]),
        ...(options?.include_usage ? [usage] : []),
      ]
    }
  },

  lineFormat: {
    contentType: 'text/event-stream',
    write: (line) => `data: ${JSON.stringify(line)}\n\n`,
    end: 'data: [DONE]\n\n',
  },
}

const efforts = {
  none: 'none',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
} as const

const finishReasons: Record<StopReason, FinishReason> = {
  stop: 'stop',
  max_tokens: 'length',
  content_filter: 'content_filter',
  tool_calls: 'tool_calls',
  other: 'stop',
}

function toMessage(message: Message, index: number): ModelMessage {
  const { role, content = null, tool_calls: calls, tool_call_id: answered } = message
  if (role === 'tool') {
    return {
      role: 'user',
      type: 'tool_result',
      content: textOf(content),
      ...(answered && { toolResultCallId: answered }),
    }
  }
  if (calls && calls.length > 0) {
    return {
      role: 'assistant',
      type: 'tool_calls',
      content: textOf(content),
      toolCalls: calls.map(({ id, function: { name, arguments: given } }) => ({
        id,
        type: 'function',
        function: { name, arguments: argumentsOf(given, index) },
      })),
    }
  }
  const asked = role === 'developer' ? 'system' : role
  if (content === null || typeof content === 'string') return { role: asked, content: content ?? '' }
  return { role: asked, type: 'multipart', content: content.map(toPart) }
}

type Content = NonNullable<Message['content']>
type Part = Exclude<ModelMessage['content'], string | null | undefined>[number]

function textOf(content: Content | null): string {
  if (content === null || typeof content === 'string') return content ?? ''
  return content.map(({ text, refusal }) => text ?? refusal ?? '').join('\n')
}

function toPart({ type, text, refusal, image_url: image, input_audio: audio }: Exclude<Content, string>[number]): Part {
  if (type === 'image_url') return { type: 'image', url: image?.url ?? '' }
  if (type === 'input_audio' && audio) {
    const mimeType = audio.format === 'mp3' ? 'audio/mpeg' : 'audio/wav'
    return { type: 'audio', mimeType, url: `data:${mimeType};base64,${audio.data}` }
  }
  return { type: 'text', text: text ?? refusal ?? '' }
}

/** The input of a call of a tool, which a model wrote as a text before. */
function argumentsOf(given: string, index: number): Record<string, unknown> {
  const value = given.trim() === '' ? {} : parsed(given)
  if (isRecord(value)) return value
  throw new ApiError('InvalidPayload', `messages.${index}.tool_calls: the arguments of a call must be a JSON object`)
}

function parsed(text: string): unknown {
  try {
    return parseBody(text)
  } catch {
    return undefined
  }
}

function formatOf({ response_format: format }: ChatCompletionInput): Partial<GenerateTextInput> {
  if (format?.type === 'json_object') return { responseFormat: 'json' }
  if (format?.type !== 'json_schema') return {}
  const responseSchema = format.json_schema?.schema
  return responseSchema ? { responseSchema } : { responseFormat: 'json' }
}

function toolsOf({
  tools,
  tool_choice: choice,
  parallel_tool_calls: parallel,
}: ChatCompletionInput): Partial<GenerateTextInput> {
  if (!tools || tools.length === 0) return {}
  const control =
    choice === undefined
      ? { mode: 'auto' as const }
      : typeof choice === 'string'
        ? { mode: choice }
        : { mode: 'specific' as const, toolName: choice.function.name }
  return {
    tools: tools.map(({ function: { name, description, parameters, strict } }) => ({
      name,
      ...(description !== undefined && { description }),
      ...(parameters && { parameters }),
      ...(strict != null && { strict }),
    })),
    toolControl: { ...control, ...(parallel !== undefined && { parallel }) },
  }
}

function toToolCall({ id, name, input }: NonNullable<GenerateTextOutput['toolCalls']>[number]) {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } } as const
}

function usageOf({ usage: { inputTokens, outputTokens } }: GenerateTextOutput['metadata']): ChatCompletion['usage'] {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens }
}

function seconds(): number {
  return Math.floor(Date.now() / 1000)
}
