import { closedObject, type Infer } from '../schema.ts'

const anyObject = { type: 'object', additionalProperties: true } as const

const text = { type: 'string' } as const

/** A part of a message: of its fields, one belongs to each type. */
const part = closedObject(
  { type: { enum: ['text', 'refusal', 'image_url', 'input_audio'] } },
  {
    text,
    refusal: text,
    image_url: closedObject({ url: text }, { detail: text }),
    input_audio: closedObject({ data: text, format: { enum: ['mp3', 'wav'] } }),
  },
)

const toolCall = closedObject({
  id: { type: 'string', maxLength: 200 },
  type: { const: 'function' },
  function: closedObject({ name: { type: 'string', maxLength: 200 }, arguments: text }),
})

const message = closedObject(
  { role: { enum: ['system', 'developer', 'user', 'assistant', 'tool'] } },
  {
    content: { oneOf: [text, { type: 'array', items: part, maxItems: 1000 }, { type: 'null' }] },
    tool_calls: { type: 'array', maxItems: 1000, items: toolCall },
    tool_call_id: {
      type: 'string',
      maxLength: 200,
      description: 'The call that a message of the role `tool` answers.',
    },
  },
)

const named = closedObject({ type: { const: 'function' }, function: closedObject({ name: text }) })

/** A request of OpenAI's Chat Completions API, with the fields that models of all providers have. */
export const chatCompletionInput = closedObject(
  {
    model: {
      type: 'string',
      minLength: 1,
      maxLength: 300,
      description: '`provider:model`, `auto`, `fast` or `best`; a name without a provider is a model of OpenAI.',
    },
    messages: { type: 'array', minItems: 1, maxItems: 10_000, items: message },
  },
  {
    stream: { type: 'boolean', nullable: true, description: 'True: server-sent events.' },
    stream_options: { ...closedObject({}, { include_usage: { type: 'boolean' } }), nullable: true },
    temperature: { type: 'number', minimum: 0, maximum: 2, nullable: true },
    max_tokens: { type: 'integer', minimum: 1, maximum: 1_000_000, nullable: true },
    max_completion_tokens: { type: 'integer', minimum: 1, maximum: 1_000_000, nullable: true },
    stop: {
      oneOf: [
        { type: 'string', minLength: 1, maxLength: 1000 },
        { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 1000 } },
        { type: 'null' },
      ],
    },
    n: { type: 'integer', minimum: 1, maximum: 1, nullable: true },
    reasoning_effort: { enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', null] },
    response_format: closedObject(
      { type: { enum: ['text', 'json_object', 'json_schema'] } },
      { json_schema: closedObject({ name: text }, { schema: anyObject, strict: { type: 'boolean', nullable: true } }) },
    ),
    tools: {
      type: 'array',
      maxItems: 128,
      items: closedObject({
        type: { const: 'function' },
        function: closedObject(
          { name: { type: 'string', pattern: '^[\\w-]{1,64}$' } },
          { description: text, parameters: anyObject, strict: { type: 'boolean', nullable: true } },
        ),
      }),
    },
    tool_choice: { oneOf: [{ enum: ['none', 'auto', 'required'] }, named] },
    parallel_tool_calls: { type: 'boolean' },
  },
)

export type ChatCompletionInput = Infer<typeof chatCompletionInput>

const answerMessage = closedObject(
  { role: { const: 'assistant' }, content: { type: 'string', nullable: true }, refusal: { type: 'null' } },
  { tool_calls: { type: 'array', items: toolCall } },
)

/** An answer of OpenAI's Chat Completions API. */
export const chatCompletion = closedObject({
  id: text,
  object: { const: 'chat.completion' },
  created: { type: 'integer', description: 'Unix time in seconds.' },
  model: { type: 'string', description: 'The model that answered, as `provider:model`.' },
  choices: {
    type: 'array',
    items: closedObject({
      index: { type: 'integer' },
      message: answerMessage,
      logprobs: { type: 'null' },
      finish_reason: { enum: ['stop', 'length', 'content_filter', 'tool_calls'] },
    }),
  },
  usage: closedObject({
    prompt_tokens: { type: 'integer' },
    completion_tokens: { type: 'integer' },
    total_tokens: { type: 'integer' },
  }),
})

export type ChatCompletion = Infer<typeof chatCompletion>
