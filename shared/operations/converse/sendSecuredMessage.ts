import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { assertOpen, converse } from '../../messaging/converse.ts'
import { readPayload } from '../../messaging/converse-payloads.ts'
import { converseInput, responses } from '../../models/converse.ts'
import { chatPayload } from '../../models/payload.ts'
import { operation } from '../../rpc/operation.ts'
import { findChat } from '../../store/installations.ts'
import { findDialogState } from '../../store/replies.ts'
import { failedToHandle } from './failed-to-handle.ts'

/** The fields that v12 adds from parts that this platform does not have. */
const withoutLanguage = {
  nlu: { intent: { name: 'none', confidence: 1, context: 'global' }, intents: [], entities: [], slots: {} },
  suggestions: [],
  decision: {},
  credentials: {},
}

/** The fields of all types of messages. The message is checked as a whole. */
const payloadFields = Object.fromEntries(
  chatPayload.oneOf.flatMap(({ properties }) => Object.keys(properties)).map((name) => [name, {}]),
) as object

export const sendSecuredMessage = operation({
  name: 'sendSecuredMessage',
  description:
    'As `sendMessage`, for messages of any type, with the state of the conversation on request. Only where the ' +
    'configuration of the bot’s chat has `converse`.',
  method: 'POST',
  path: '/api/v1/bots/{botId}/converse/{userId}/secured',
  access: 'program',
  stability: 'experimental',
  errors: ['RateLimited', 'Runtime', 'OperationTimeout'],
  awaitsWorker: true,
  queryFields: ['include'],
  input: closedObject(converseInput, {
    ...payloadFields,
    type: {
      type: 'string',
      description: 'A type of the chat API, or `quick_reply` or `postback` with a `payload`; default: text.',
    },
    text: { type: 'string' },
    payload: { type: 'string', description: 'The value of the selected option, with `quick_reply` or `postback`.' },
    metadata: { type: 'object', description: 'For the bot, as `event.payload.metadata`.' },
    includedContexts: { type: 'array', items: { type: 'string' }, description: 'Without effect.' },
    include: {
      type: 'string',
      maxLength: 200,
      description: 'Of state, nlu, suggestions, decision and credentials, separated by commas.',
    },
  }),
  output: closedObject(
    { responses },
    {
      state: { type: 'object', description: 'user, session, temp and context after the message.' },
      nlu: { type: 'object', description: 'The intent `none`: there is no language understanding.' },
      suggestions: { type: 'array', items: { type: 'object' }, description: 'Empty.' },
      decision: { type: 'object', description: 'Empty.' },
      credentials: { type: 'object', description: 'Empty.' },
    },
  ),

  async handle(context, input) {
    const { db, config, caller } = context
    const { botId: _botId, userId, include = '', includedContexts: _contexts, metadata, ...given } = input
    const installation = await findChat(db, config.secret, caller.botId)
    if (!installation) throw notFound(`Bot '${caller.botId}'`)
    assertOpen(installation, 'secured')
    const payload = readPayload(given)
    const done = await converse(context, { installation, userId, payload, metadata })
    if (done.event.status === 'failed') throw failedToHandle(done, done.event.failure_reason)
    const parts = include.toLowerCase().split(',')
    const others = Object.entries(withoutLanguage).filter(([name]) => parts.includes(name))
    return {
      responses: done.responses,
      ...Object.fromEntries(others),
      ...(parts.includes('state') && { state: await findDialogState(db, done.event) }),
    }
  },
})
