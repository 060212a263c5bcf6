import { closedObject, type Infer } from '../schema.ts'

const anyObject = { type: 'object', additionalProperties: true } as const

const text = { type: 'string' } as const

const source = closedObject({ type: { enum: ['base64', 'url'] } }, { media_type: text, data: text, url: text })

/** A block of a message: of its fields, some belong to each type. Unknown types are dropped with their content. */
const block = closedObject(
  { type: text },
  {
    text,
    source,
    id: { type: 'string', maxLength: 200 },
    name: { type: 'string', maxLength: 200 },
    input: anyObject,
    tool_use_id: { type: 'string', maxLength: 200 },
    content: {
      oneOf: [text, { type: 'array', maxItems: 1000, items: closedObject({ type: text }, { text, source }) }],
    },
  },
)

const tool = closedObject(
  { name: { type: 'string', pattern: '^[\\w-]{1,64}$' }, input_schema: anyObject },
  { description: text, strict: { type: 'boolean' } },
)

/** A request of Anthropic's Messages API, with the fields that models of all providers have. */
export const anthropicMessageInput = closedObject(
  {
    model: {
      type: 'string',
      minLength: 1,
      maxLength: 300,
      description: '`provider:model`, `auto`, `fast` or `best`; a name without a provider is a model of Anthropic.',
    },
    max_tokens: { type: 'integer', minimum: 1, maximum: 1_000_000 },
    messages: {
      type: 'array',
      minItems: 1,
      maxItems: 10_000,
      items: closedObject({
        role: { enum: ['user', 'assistant', 'system'] },
        content: { oneOf: [text, { type: 'array', items: block, maxItems: 1000 }] },
      }),
    },
  },
  {
    stream: { type: 'boolean', description: 'True: server-sent events.' },
    system: { oneOf: [text, { type: 'array', items: closedObject({ type: text, text }), maxItems: 1000 }] },
    temperature: { type: 'number', minimum: 0, maximum: 1 },
    stop_sequences: { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 1000 } },
    thinking: closedObject({ type: text }),
    output_config: closedObject(
      {},
      {
        effort: { enum: ['low', 'medium', 'high', 'xhigh', 'max', null] },
        format: { ...closedObject({ type: { const: 'json_schema' }, schema: anyObject }), nullable: true },
      },
    ),
    tools: { type: 'array', maxItems: 128, items: tool },
    tool_choice: closedObject(
      { type: { enum: ['auto', 'any', 'tool', 'none'] } },
      { name: text, disable_parallel_tool_use: { type: 'boolean' } },
    ),
  },
)

export type AnthropicMessageInput = Infer<typeof anthropicMessageInput>

/** An answer of Anthropic's Messages API. */
export const anthropicMessage = closedObject({
  id: text,
  type: { const: 'message' },
  role: { const: 'assistant' },
  model: { type: 'string', description: 'The model that answered, as `provider:model`.' },
  content: {
    type: 'array',
    items: closedObject(
      { type: { enum: ['text', 'tool_use'] } },
      { text, citations: { type: 'null' }, id: text, name: text, input: anyObject },
    ),
  },
  stop_reason: { enum: ['end_turn', 'max_tokens', 'refusal', 'tool_use'] },
  stop_sequence: { type: 'null' },
  usage: closedObject({ input_tokens: { type: 'integer' }, output_tokens: { type: 'integer' } }),
})

export type AnthropicMessage = Infer<typeof anthropicMessage>
