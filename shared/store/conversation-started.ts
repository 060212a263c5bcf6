import { conversationStarted } from '../models/event.ts'
import { eventInsert } from './insert-rows.ts'

/**
 * SQL that inserts the event of a new `conversation`, the first of its mailbox, if a flow of the deployed version begins
 * with it; returns its id. It belongs to the statement that inserts the conversation. The bindings `startedId` and
 * `startedBy` are the event's id and its user, who may be null.
 */
export const startedInsert = `
  ${eventInsert({
    id: ':startedId',
    bot_id: 'conversation.bot_id',
    mailbox: 'conversation.id',
    conversation_id: 'conversation.id',
    user_id: ':startedBy',
    integration: '(select integration from installations where installations.id = conversation.installation_id)',
    type: `'${conversationStarted}'`,
    payload: `jsonb_build_object('channel', conversation.channel)`,
    created_at: 'conversation.clock',
  })}
  from conversation
  where (
    select starts_with_conversation from bot_versions
    where id = (select version_id from bots where bots.id = conversation.bot_id)
  )
  returning id`
