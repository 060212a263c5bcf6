/** Parts of the schemas of cards. `title` words the error of a field with alternatives. */

/** Upper bound of an expression's text. */
export const maxExpression = 4096

/** Text of JavaScript, evaluated in the bot's isolate. In TypeScript, a function takes its place. */
export const expression = {
  type: 'object',
  title: 'an expression',
  additionalProperties: false,
  required: ['$'],
  properties: { $: { type: 'string', minLength: 1, maxLength: maxExpression } },
} as const

/** Any JSON value; its texts are templates, and its expressions are evaluated at any depth. */
export const value = { title: 'a value' } as const

export const values = { type: 'object', maxProperties: 100, additionalProperties: value } as const

/** Where a flow continues: a node of the flow, `flow/node`, or `flow/` for the start of a flow; null ends the flow. */
export const destination = {
  type: 'string',
  nullable: true,
  minLength: 1,
  maxLength: 129,
  description: 'A node of the flow, `flow/node`, or `flow/` for the start of another flow. Null ends the flow.',
} as const

/** The variables that flows read and write. */
export const scopes = ['workflow', 'temp', 'session', 'user', 'conversation', 'bot'] as const

/** `__proto__`, `constructor` and `prototype` are no names of variables. */
export const variable = {
  type: 'string',
  maxLength: 100,
  pattern: `^(${scopes.join('|')})\\.(?!(__proto__|constructor|prototype)$)[A-Za-z_][A-Za-z0-9_]*$`,
  description: 'A variable, as `scope.name`.',
} as const

export const id = {
  type: 'string',
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description: 'At most 64 letters, digits, _ and -.',
} as const

const message = {
  title: 'a text, a message with a type, or an expression',
  anyOf: [
    { type: 'string', minLength: 1, maxLength: 4096 },
    expression,
    { type: 'object', required: ['type'], properties: { type: { type: 'string', minLength: 1, maxLength: 200 } } },
  ],
} as const

export const messages = {
  message: { ...message, description: 'A text, or a message as clients send it: `{ "type": "image", … }`.' },
  variants: {
    type: 'array',
    minItems: 1,
    maxItems: 50,
    items: message,
    description: 'Messages of which one is sent, instead of `message`.',
  },
  translations: {
    type: 'object',
    maxProperties: 50,
    additionalProperties: message,
    description: 'Messages by language, sent instead of `message` to users whose `user.language` it is.',
  },
} as const

/** The fields of cards that ask language models. */
export const modelCall = {
  instructions: {
    title: 'a text, or an expression',
    anyOf: [{ type: 'string', maxLength: 16_384 }, expression],
    description: 'Instructions for the model, before all messages.',
  },
  question: {
    title: 'a text, or an expression',
    anyOf: [{ type: 'string', maxLength: 4096 }, expression],
    description: 'The last message for the model. Default: the text of the message of the event.',
  },
  history: {
    type: 'integer',
    minimum: 0,
    maximum: 20,
    description: 'How many earlier messages of the conversation the model gets. Default: 0.',
  },
  model: {
    title: 'the name of a model, or a list of names',
    anyOf: [
      { type: 'string', minLength: 1, maxLength: 300 },
      { type: 'array', minItems: 1, maxItems: 10, items: { type: 'string', minLength: 1, maxLength: 300 } },
    ],
    description: '`provider:model`, `auto`, `fast` or `best`; several in order of preference. Default: `auto`.',
  },
  temperature: { type: 'number', minimum: 0, maximum: 2 },
  maxTokens: { type: 'integer', minimum: 1, maximum: 1_000_000, description: 'Upper bound of the answer.' },
} as const

export const retries = {
  retries: { type: 'integer', minimum: 0, maximum: 10, description: 'How often the card asks again. Default: 3.' },
  retryMessage: { ...message, description: 'Sent before the question is asked again.' },
  cancel: {
    type: 'array',
    maxItems: 20,
    items: { type: 'string', minLength: 1, maxLength: 200 },
    description: 'Answers that leave by the port `cancel`.',
  },
} as const

/** `declared`: the card's own `ports` name them. Cards with options or cases also have a port for each of these. */
export type Ports = readonly string[] | 'declared'

/**
 * @param description for the card reference
 * @param named the names of the ports besides those of options and cases, and besides `error`: any card may fail
 */
export function closedCard<const Required extends object, const Optional extends object>(
  description: string,
  required: Required,
  optional: Optional,
  named: readonly string[] | 'declared',
) {
  const ports: Ports = named === 'declared' ? named : [...named, 'error']
  return { description, required, optional, ports }
}
