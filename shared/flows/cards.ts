import { retries, value, values, expression, messages, modelCall, variable, closedCard, destination } from './fields.ts'

/**
 * The JSON Schema of each type of card: the one place that says which fields a card has. Validation, the types of
 * authors and the card reference are made from it.
 */
export const cards = {
  say: closedCard('Sends a message to the conversation.', {}, messages, []),

  choice: closedCard(
    'Asks the user to select an option, and waits. An answer matches an option by its value, its label, its number in ' +
      'the list, one of its words, or a label that it contains. The port is the value of the option.',
    {
      options: {
        title: 'a list of options, or an expression',
        anyOf: [
          {
            type: 'array',
            minItems: 1,
            maxItems: 100,
            items: {
              type: 'object',
              additionalProperties: false,
              required: ['label', 'value'],
              properties: {
                label: { type: 'string', minLength: 1, maxLength: 500 },
                value: { type: 'string', minLength: 1, maxLength: 200 },
                words: { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 200 } },
              },
            },
          },
          expression,
        ],
      },
    },
    {
      ...messages,
      as: { enum: ['buttons', 'dropdown', 'text'], description: 'Default: `buttons`.' },
      contains: {
        type: 'boolean',
        description: 'Whether an answer that contains exactly one label matches its option. Default: true.',
      },
      variable: { ...variable, description: 'The variable that receives the value of the option.' },
      ...retries,
    },
    ['other', 'cancel'],
  ),

  capture: closedCard(
    'Asks a question, waits for the answer, and stores it in a variable.',
    { variable: { ...variable, description: 'The variable that receives the answer.' } },
    {
      ...messages,
      kind: {
        enum: ['any', 'text', 'number', 'integer', 'boolean', 'email', 'phone', 'url', 'date', 'location', 'file'],
        description: 'The kind of answer that is accepted. Default: `any`, which stores the text of any message.',
      },
      validate: {
        ...expression,
        description: 'Whether the answer is accepted; the expression finds it as `value`.',
      },
      skipWhenFilled: { type: 'boolean', description: 'Whether nothing is asked when the variable has a value.' },
      ...retries,
    },
    ['failed', 'cancel'],
  ),

  condition: closedCard('Continues at one of two ports.', { if: expression }, {}, ['true', 'false']),

  router: closedCard(
    'Continues at the port of the first case that holds.',
    {
      cases: {
        type: 'array',
        minItems: 1,
        maxItems: 100,
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['port', 'if'],
          properties: { port: { type: 'string', minLength: 1, maxLength: 200 }, if: expression },
        },
      },
    },
    {},
    ['else'],
  ),

  set: closedCard(
    'Sets variables, in order, and removes others.',
    {},
    {
      values: {
        type: 'object',
        maxProperties: 100,
        propertyNames: { pattern: variable.pattern },
        additionalProperties: value,
        description: 'Values by variable, for instance `workflow.count`.',
      },
      remove: { type: 'array', maxItems: 100, items: variable },
    },
    [],
  ),

  code: closedCard(
    'Runs JavaScript or TypeScript: the body of an async function. It may return the name of a port.',
    {
      code: {
        title: 'JavaScript',
        anyOf: [{ type: 'string', maxLength: 64 * 1024 }, expression],
        description: 'It finds `event`, `state`, `workflow`, `temp`, `client`, `env` and `logger`.',
      },
    },
    {},
    'declared',
  ),

  action: closedCard(
    'Calls an action of the bot, or of an integration as `alias:name`.',
    { action: { type: 'string', minLength: 1, maxLength: 200 } },
    { input: values, output: { ...variable, description: 'The variable that receives the output.' } },
    [],
  ),

  http: closedCard(
    'Requests an address of a host that the bot may reach.',
    { url: { title: 'an address, or an expression', anyOf: [{ type: 'string', maxLength: 2000 }, expression] } },
    {
      method: { enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], description: 'Default: `GET`.' },
      headers: values,
      body: { ...value, description: 'A text, or a value that is sent as JSON.' },
      output: {
        ...variable,
        description: 'The variable that receives `{ status, body }`; a body of JSON is parsed.',
      },
    },
    [],
  ),

  call: closedCard(
    'Runs another flow with variables of its own, and continues when that flow has ended.',
    { flow: { type: 'string', minLength: 1, maxLength: 64 } },
    {
      input: { ...values, description: 'The variables with which the flow begins.' },
      output: {
        type: 'object',
        maxProperties: 100,
        additionalProperties: variable,
        description: 'The variables that receive variables of the flow at its end, by the names in that flow.',
      },
    },
    [],
  ),

  jump: closedCard('Continues at another node or flow, without a return.', { to: destination }, {}, []),

  wait: closedCard(
    'Waits for a time. A message that arrives meanwhile does not end the wait, unless a route of `always` takes it.',
    {
      seconds: {
        title: 'a number of seconds, or an expression',
        anyOf: [{ type: 'number', minimum: 0, maximum: 366 * 24 * 60 * 60 }, expression],
      },
    },
    {},
    [],
  ),

  emit: closedCard(
    'Creates an event of the bot.',
    { event: { type: 'string', minLength: 1, maxLength: 200 } },
    {
      payload: values,
      conversation: {
        title: 'a text, or an expression',
        anyOf: [{ type: 'string', minLength: 1, maxLength: 200 }, expression],
        description: 'The id of the conversation of the event. Default: that of the present event, if it has one.',
      },
      delaySeconds: {
        title: 'a number of seconds, or an expression',
        anyOf: [{ type: 'number', minimum: 0, maximum: 30 * 24 * 60 * 60 }, expression],
      },
    },
    [],
  ),

  knowledge: closedCard(
    'Searches the knowledge of the bot. Its findings are `event.kb` for the rest of the event.',
    { question: { title: 'a text, or an expression', anyOf: [{ type: 'string', maxLength: 4096 }, expression] } },
    {
      knowledgeBases: {
        type: 'array',
        minItems: 1,
        maxItems: 50,
        items: { type: 'string', minLength: 1, maxLength: 500 },
        description: 'The names of the knowledge bases to search. Default: all.',
      },
      limit: { type: 'integer', minimum: 1, maximum: 50, description: 'Default: 5.' },
      output: { ...variable, description: 'The variable that receives the results, as in `event.kb.results`.' },
    },
    ['none'],
  ),

  ai: closedCard(
    'Asks a language model, and sends its answer while the model writes it.',
    {},
    {
      ...modelCall,
      knowledge: {
        type: 'boolean',
        description:
          'Whether the model answers only from what a card `knowledge` before it has found (`event.kb`). Default: false.',
      },
      schema: {
        type: 'object',
        additionalProperties: true,
        title: 'a JSON Schema',
        description: 'The JSON Schema of the answer, which is then a value.',
      },
      output: { ...variable, description: 'The variable that receives the answer.' },
      say: {
        type: 'boolean',
        description: 'Whether the answer is sent. Default: true, unless the card has `output` or `schema`.',
      },
    },
    [],
  ),

  aiRouter: closedCard(
    'Continues at the port of the case that a language model finds to fit the message.',
    {
      cases: {
        type: 'array',
        minItems: 1,
        maxItems: 100,
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['port', 'description'],
          properties: {
            port: { type: 'string', minLength: 1, maxLength: 200 },
            description: {
              title: 'a text, or an expression',
              anyOf: [{ type: 'string', minLength: 1, maxLength: 1000 }, expression],
              description: 'The messages of the case, in words for the model.',
            },
          },
        },
      },
    },
    { ...modelCall, output: { ...variable, description: 'The variable that receives the name of the port.' } },
    ['else'],
  ),

  handover: closedCard(
    'Hands the conversation over to people: hooks and flows of the bot do not run there until it is handed back. ' +
      'Creates the event `handover_started` without a conversation.',
    {},
    { reason: { title: 'a text, or an expression', anyOf: [{ type: 'string', maxLength: 4096 }, expression] } },
    ['resumed'],
  ),

  log: closedCard(
    'Writes a line to the log of the bot.',
    { message: { title: 'a text, or an expression', anyOf: [{ type: 'string', maxLength: 4096 }, expression] } },
    { level: { enum: ['debug', 'info', 'warn', 'error'], description: 'Default: `info`.' } },
    [],
  ),

  comment: closedCard('Does nothing; a note for readers.', { text: { type: 'string', maxLength: 4096 } }, {}, []),

  end: closedCard(
    'Ends the conversation’s flows: flow `end` runs, if the bot has one; then the position and the session are cleared.',
    {},
    {},
    [],
  ),
} as const

export type CardType = keyof typeof cards
