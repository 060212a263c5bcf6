import { newId } from '../ids.ts'
import { nextClock } from './conversation-log.ts'
import { query, type Database } from './database.ts'
import { eventInsert } from './insert-rows.ts'
import { deliveryMailbox } from './messages.ts'

/** A change of a message or a conversation by the bot, for the integration that the conversation belongs to. */
export interface Update {
  botId: string
  conversationId: string
  messageId?: string
  /** The event's type, which is the name of the operation that the integration enables. */
  type: 'message_updated' | 'conversation_updated'
  /** The changed columns of the row, before and after. */
  payload: { previous: object; current: object }
}

const updateInsert = eventInsert({
  id: ':id',
  bot_id: ':botId',
  mailbox: ':mailbox',
  conversation_id: 'conversation.id',
  message_id: ':messageId',
  integration: 'integration',
  installation_id: 'installation_id',
  type: ':type',
  direction: `'outgoing'`,
  payload: ':payload::jsonb',
  created_at: 'clock',
})

/**
 * Stores the event of a change, in the order of the conversation's messages, if its integration has enabled the operation
 * (`extraOperations`): code of older versions of the public SDK answers an unknown operation with an error.
 *
 * @returns whether there is an event
 */
export async function insertUpdateEvent(db: Database, update: Update): Promise<boolean> {
  const { botId, conversationId, messageId = null, type, payload } = update
  const rows = await query<{ id: string }>(
    db,
    `with recipient as (
       select conversations.id as conversation_id, installations.id as installation_id, installations.integration
       from conversations
       join installations on installations.id = conversations.installation_id and installations.enabled
       join integrations on integrations.id = installations.integration_id
         and integrations.definition #>> array['extraOperations', :type::text, 'enabled'] = 'true'
       where conversations.id = :conversationId and conversations.bot_id = :botId
     ), conversation as (
       ${nextClock} where id = (select conversation_id from recipient) returning id, clock
     )
     ${updateInsert}
     from recipient, conversation
     returning id`,
    {
      id: newId('evt'),
      botId,
      conversationId,
      messageId,
      type,
      mailbox: deliveryMailbox(conversationId),
      payload: JSON.stringify(payload),
    },
  )
  return rows.length > 0
}
