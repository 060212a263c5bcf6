import { ApiError } from '../errors.ts'
import type { AnthropicMessage, AnthropicMessageInput } from '../models/anthropic-message.ts'
import type { GenerateTextInput, GenerateTextOutput, ModelMessage, StopReason } from '../models/language-model.ts'
import { isRecord } from '../models/payload.ts'
import { fullName, type LibraryWire } from './library-wire.ts'

type Message = AnthropicMessageInput['messages'][number]
type Block = Exclude<Message['content'], string>[number]
type Part = Exclude<ModelMessage['content'], string | null | undefined>[number]

/** Anthropic's Messages API. */
export const anthropicMessages: LibraryWire<AnthropicMessageInput> = {
  toInput(body) {
    const { model, max_tokens: maxTokens, messages, system, temperature, stop_sequences: stops, tools = [] } = body
    return {
      model: fullName(model, 'anthropic'),
      maxTokens,
      messages: messages.flatMap(toMessages),
      ...(system !== undefined && { systemPrompt: typeof system === 'string' ? system : textOf(system) }),
      ...(temperature !== undefined && { temperature }),
      ...(stops && { stopSequences: stops }),
      ...effortOf(body),
      ...(body.output_config?.format && { responseSchema: body.output_config.format.schema }),
      ...(tools.length > 0 && {
        tools: tools.map(({ name, description, input_schema: parameters, strict }) => ({
          name,
          parameters,
          ...(description !== undefined && { description }),
          ...(strict !== undefined && { strict }),
        })),
        ...(body.tool_choice && { toolControl: toControl(body.tool_choice) }),
      }),
    }
  },

  toAnswer({ output, toolCalls = [], metadata }, { id }): AnthropicMessage {
    return {
      ...headOf(id, metadata.model),
      content: [
        ...(output === '' ? [] : [{ type: 'text' as const, text: output, citations: null }]),
        ...toolCalls.map((call) => ({ type: 'tool_use' as const, ...call })),
      ],
      stop_reason: stopReasons[metadata.stopReason],
      stop_sequence: null,
      usage: usageOf(metadata),
    }
  },

  toLines(_body, { id, model }) {
    let hasBegun = false
    let hasText = false
    return ({ output, toolCalls = [], finished, metadata, error }) => {
      if (error !== undefined) return [{ type: 'error', error: { type: 'api_error', message: error } }]
      const lines: object[] = []
      if (!hasBegun) {
        const usage = { input_tokens: 0, output_tokens: 0 }
        const message = { ...headOf(id, model), content: [], stop_reason: null, stop_sequence: null, usage }
        lines.push({ type: 'message_start', message })
        hasBegun = true
      }
      if (output !== '') {
        if (!hasText) {
          const content_block = { type: 'text', text: '', citations: null }
          lines.push({ type: 'content_block_start', index: 0, content_block })
        }
        hasText = true
        lines.push({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: output } })
      }
      if (!finished) return lines
      if (hasText) lines.push({ type: 'content_block_stop', index: 0 })
      for (const [position, { id: callId, name, input }] of toolCalls.entries()) {
        const index = position + (hasText ? 1 : 0)
        const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) }
        lines.push(
          { type: 'content_block_start', index, content_block: { type: 'tool_use', id: callId, name, input: {} } },
          { type: 'content_block_delta', index, delta },
          { type: 'content_block_stop', index },
        )
      }
      const stop_reason = stopReasons[metadata!.stopReason]
      lines.push(
        { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: usageOf(metadata!) },
        { type: 'message_stop' },
      )
      return lines
    }
  },

  lineFormat: {
    contentType: 'text/event-stream',
    write: (line) => `event: ${isRecord(line) ? String(line['type']) : 'message'}\ndata: ${JSON.stringify(line)}\n\n`,
  },
}

const stopReasons: Record<StopReason, AnthropicMessage['stop_reason']> = {
  stop: 'end_turn',
  max_tokens: 'max_tokens',
  content_filter: 'refusal',
  tool_calls: 'tool_use',
  other: 'end_turn',
}

function headOf(id: string, model: string) {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model } as const
}

function usageOf({ usage: { inputTokens, outputTokens } }: GenerateTextOutput['metadata']): AnthropicMessage['usage'] {
  return { input_tokens: inputTokens, output_tokens: outputTokens }
}

/** One message may hold the results of several tools, each of which is a message of its own here. */
function toMessages({ role, content }: Message): ModelMessage[] {
  if (typeof content === 'string') return [{ role, content }]
  const results = content.flatMap(toResult)
  const parts = content.flatMap(toPart)
  const calls = content.filter(({ type }) => type === 'tool_use')
  if (calls.length > 0) {
    return [{ role: 'assistant', type: 'tool_calls', content: textOf(parts), toolCalls: calls.map(toToolCall) }]
  }
  if (parts.length === 0 && results.length > 0) return results
  return [...results, { role, type: 'multipart', content: parts }]
}

function toResult({ type, tool_use_id: toolResultCallId, content = '' }: Block): ModelMessage[] {
  if (type !== 'tool_result' || toolResultCallId === undefined) return []
  const text = typeof content === 'string' ? content : textOf(content)
  return [{ role: 'user', type: 'tool_result', toolResultCallId, content: text }]
}

function toPart({ type, text, source }: Pick<Block, 'type' | 'text' | 'source'>): Part[] {
  if (type === 'text') return [{ type, text: text ?? '' }]
  if (type !== 'image' || !source) return []
  const { type: kind, url, data, media_type: mimeType } = source
  const isData = kind === 'base64'
  return [
    {
      type,
      url: (isData ? `data:${mimeType};base64,${data}` : url) ?? '',
      ...(mimeType !== undefined && { mimeType }),
    },
  ]
}

function textOf(parts: readonly { text?: string }[]): string {
  return parts.map(({ text = '' }) => text).join('\n')
}

function toToolCall({ id, name, input = {} }: Block): NonNullable<ModelMessage['toolCalls']>[number] {
  if (id === undefined || name === undefined) {
    throw new ApiError('InvalidPayload', 'A block of the type tool_use must have an id, a name and an input')
  }
  return { id, type: 'function', function: { name, arguments: input } }
}

function toControl({
  type,
  name,
  disable_parallel_tool_use: isSerial,
}: NonNullable<AnthropicMessageInput['tool_choice']>): NonNullable<GenerateTextInput['toolControl']> {
  const modes = { auto: 'auto', any: 'required', tool: 'specific', none: 'none' } as const
  return {
    mode: modes[type],
    ...(name !== undefined && { toolName: name }),
    ...(isSerial !== undefined && { parallel: !isSerial }),
  }
}

function effortOf({ thinking, output_config: output }: AnthropicMessageInput): Partial<GenerateTextInput> {
  const efforts = { low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' } as const
  if (output?.effort) return { reasoningEffort: efforts[output.effort] }
  if (thinking?.type === 'disabled') return { reasoningEffort: 'none' }
  return thinking === undefined ? {} : { reasoningEffort: 'dynamic' }
}
