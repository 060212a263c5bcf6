import { closedObject, type Infer } from '../schema.ts'

const anyObject = { type: 'object', additionalProperties: true } as const

/** A part of a message. */
const part = closedObject(
  { type: { enum: ['text', 'image', 'audio'] } },
  {
    text: { type: 'string' },
    url: {
      type: 'string',
      description:
        'Of an image or an audio file: a data URL, the `url` of a file of the platform, or, of an image, an https URL.',
    },
    mimeType: { type: 'string', maxLength: 100 },
  },
)

const modelMessage = closedObject(
  { role: { enum: ['system', 'user', 'assistant'] } },
  {
    type: { enum: ['text', 'multipart', 'tool_calls', 'tool_result'], description: '`text` unless given.' },
    content: {
      oneOf: [{ type: 'string' }, { type: 'array', items: part, maxItems: 1000 }, { type: 'null' }],
      description: 'Text, or the parts of a message of type `multipart`.',
    },
    toolCalls: {
      type: 'array',
      maxItems: 1000,
      description: 'Of an answer of type `tool_calls`, which the model gave before.',
      items: closedObject(
        {
          id: { type: 'string', maxLength: 200 },
          function: closedObject({
            name: { type: 'string', maxLength: 200 },
            arguments: { type: 'object', additionalProperties: true, nullable: true },
          }),
        },
        { type: { const: 'function' } },
      ),
    },
    toolResultCallId: {
      type: 'string',
      maxLength: 200,
      description: 'The call that a message of type `tool_result` answers.',
    },
  },
)

const tool = closedObject(
  { name: { type: 'string', pattern: '^[\\w-]{1,64}$' } },
  {
    description: { type: 'string' },
    parameters: { ...anyObject, description: 'JSON Schema of the input.' },
    strict: { type: 'boolean', description: 'The provider holds the model to the schema, where it can.' },
  },
)

const textOrList = (maxLength: number, { minItems, maxItems }: { minItems: number; maxItems: number }) =>
  ({
    oneOf: [
      { type: 'string', minLength: 1, maxLength },
      { type: 'array', minItems, maxItems, items: { type: 'string', minLength: 1, maxLength } },
    ],
  }) as const

export const modelChoice = textOrList(300, { minItems: 1, maxItems: 10 })

export const generateTextInput = closedObject(
  { messages: { type: 'array', minItems: 1, maxItems: 10_000, items: modelMessage } },
  {
    model: {
      ...modelChoice,
      description: '`provider:model`, `auto`, `fast` or `best`; several in order of fallback. `auto` unless given.',
    },
    systemPrompt: { type: 'string', description: 'Instructions before all messages.' },
    temperature: { type: 'number', minimum: 0, maximum: 2 },
    maxTokens: { type: 'integer', minimum: 1, maximum: 1_000_000, description: 'Upper bound of the answer.' },
    stopSequences: {
      ...textOrList(1000, { minItems: 0, maxItems: 100 }),
      description: 'The answer ends before the first of them.',
    },
    responseFormat: { enum: ['text', 'json', 'json_object'], description: '`json`: the answer is one JSON value.' },
    responseSchema: { ...anyObject, description: 'JSON Schema of the answer, which is then JSON.' },
    reasoningEffort: { enum: ['none', 'low', 'medium', 'high', 'dynamic'] },
    tools: { type: 'array', maxItems: 128, items: tool },
    toolControl: closedObject(
      { mode: { enum: ['auto', 'none', 'required', 'specific'] } },
      {
        toolName: { type: 'string', description: 'Of the mode `specific`.' },
        parallel: { type: 'boolean', description: 'False: at most one call in an answer.' },
      },
    ),
  },
)

export type GenerateTextInput = Infer<typeof generateTextInput>
export type ModelMessage = GenerateTextInput['messages'][number]

export const stopReasons = ['stop', 'max_tokens', 'content_filter', 'tool_calls', 'other'] as const
export type StopReason = (typeof stopReasons)[number]

/** Why a model gave no answer, or not all of it. */
export const failureKinds = [
  'refused',
  'limited',
  'failed',
  'malformed',
  'unreachable',
  'timeout',
  'busy',
  'broken',
  'cancelled',
] as const
export type FailureKind = (typeof failureKinds)[number]

export const modelWarning = closedObject({
  type: {
    enum: ['parameter_ignored', 'provider_limitation', 'deprecated_model', 'fallback_used'],
  },
  message: { type: 'string' },
})

export type ModelWarning = Infer<typeof modelWarning>

export const dollars = {
  type: 'number',
  description: 'In US dollars, by the platform’s table of prices; 0 if it has none.',
} as const

export const modelUsage = closedObject({
  inputTokens: { type: 'integer' },
  inputCost: dollars,
  outputTokens: { type: 'integer' },
  outputCost: dollars,
})

export type ModelUsage = Infer<typeof modelUsage>

const toolCalls = {
  type: 'array',
  items: closedObject({ id: { type: 'string' }, name: { type: 'string' }, input: anyObject }),
} as const

export const generateTextOutput = closedObject(
  {
    output: { type: 'string', description: 'The text; empty if the model calls tools instead.' },
    metadata: closedObject(
      {
        provider: { type: 'string' },
        model: { type: 'string', description: 'The model that answered, as `provider:model`.' },
        usage: modelUsage,
        cost: { ...dollars, description: 'The sum of both costs, an estimate: the provider’s bill is exact.' },
        cached: { type: 'boolean' },
        latency: { type: 'integer', description: 'Milliseconds from the call to the answer.' },
        stopReason: { enum: stopReasons },
        fallbackPath: { type: 'array', items: { type: 'string' }, description: 'The models that failed before.' },
      },
      {
        ttft: { type: 'integer', description: 'Of a stream: milliseconds from the call to the first text.' },
        warnings: { type: 'array', items: modelWarning },
      },
    ),
  },
  { reasoning: { type: 'string' }, toolCalls },
)

export type GenerateTextOutput = Infer<typeof generateTextOutput>

/** A line of a streamed answer. */
export const generateTextChunk = closedObject(
  {
    created: { type: 'integer', description: 'Unix time in seconds.' },
    output: { type: 'string', description: 'The text since the last chunk.' },
    finished: { type: 'boolean', description: 'True in the last chunk, and only there.' },
  },
  {
    reasoning: { type: 'string', description: 'The model’s reasoning since the last chunk.' },
    toolCalls,
    metadata: generateTextOutput.properties.metadata,
    error: { type: 'string', description: 'In the last chunk: why the answer ended within. It is not complete.' },
  },
)

export type GenerateTextChunk = Infer<typeof generateTextChunk>

const side = closedObject(
  { maxTokens: { type: 'integer' }, costPer1MTokens: { type: 'number' } },
  { costPerMinute: { type: 'number', description: 'Of a model that transcribes: for a minute of audio.' } },
)

/** A model that bots may use. */
export const languageModel = closedObject({
  id: { type: 'string', description: '`provider:model`.' },
  name: { type: 'string' },
  description: { type: 'string' },
  aliases: { type: 'array', items: { type: 'string' } },
  tags: { type: 'array', items: { type: 'string' } },
  input: side,
  output: side,
  lifecycle: { enum: ['production', 'preview', 'deprecated', 'discontinued'] },
  capabilities: closedObject({
    supportsImages: { type: 'boolean' },
    supportsAudio: { type: 'boolean' },
    supportsTranscription: { type: 'boolean' },
    supportsSearch: { type: 'boolean' },
  }),
})

export type LanguageModel = Infer<typeof languageModel>
