import { closedObject } from '../../schema.ts'
import { chatActions } from '../../messaging/chat-actions.ts'
import { findModelAction } from '../models/model-actions.ts'
import { findInboxAction } from '../../messaging/inbox-actions.ts'
import { findWebchatAction } from '../../messaging/webchat-actions.ts'
import { recordAfter } from '../../rpc/journal.ts'
import { callActionRemotely } from '../../messaging/call-action.ts'
import { ApiError } from '../../errors.ts'
import { operation } from '../../rpc/operation.ts'

export const callAction = operation({
  name: 'callAction',
  description: 'Calls an action of the bot, or as `alias:action` one of an integration, and returns its output.',
  method: 'POST',
  awaitsWorker: true,
  path: '/v1/chat/actions',
  access: 'bot',
  errors: ['ReferenceNotFound', 'Runtime', 'PaymentRequired', 'RateLimited', 'OperationTimeout'],
  input: closedObject({ type: { type: 'string', minLength: 1, maxLength: 200 }, input: { type: 'object' } }),
  output: closedObject({ output: { type: 'object' }, meta: closedObject({ cached: { type: 'boolean' } }) }),

  async handle(context, { type, input }) {
    const { botId, installation, execution } = context.caller
    const chatAction =
      chatActions.get(type) ?? (await findWebchatAction(context, type)) ?? (await findInboxAction(context, type))
    if (chatAction && installation) {
      throw new ApiError('Forbidden', `'${type}' acts as the bot: an integration cannot call it`)
    }
    if (chatAction) return { output: await chatAction(context, input), meta: { cached: false } }
    const modelAction = await findModelAction(context, type)
    if (modelAction) return { output: await modelAction(context, input), meta: { cached: false } }
    const output = execution
      ? await recordAfter(context, { type, input }, () => execution.callAction(type, input))
      : await callActionRemotely(context, botId, { type, input })
    return { output, meta: { cached: false } }
  },
})
