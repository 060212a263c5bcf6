import { query, type Database } from './database.ts'
import { conversationStarted } from '../models/event.ts'
import { flowStateName, sessionName } from '../models/state.ts'
import type { EventRow, MessageRow } from '../models/tables.ts'

/** The event of the beginning of a conversation. */
const startOf = `select id from events where mailbox = :conversationId and type = '${conversationStarted}'`

/**
 * The bot's messages that the code has sent in the conversation while it handled an event, in order.
 *
 * @param options `withStart` adds those from the beginning of the conversation
 */
export async function repliesOf(
  db: Database,
  event: Pick<EventRow, 'id' | 'bot_id' | 'conversation_id'>,
  { withStart }: { withStart: boolean },
): Promise<MessageRow[]> {
  return query<MessageRow>(
    db,
    // The journal knows which messages the calls have created. A changed message may be one of an earlier answer; the
    // operation has the actions that led to the call before its name.
    `select messages.* from messages
     where messages.id in (
         select effects.result ->> 'id' from effects
         where effects.event_id in (select :id::text ${withStart ? `union all ${startOf}` : ''})
           and operation !~ '(^|/)updateMessage$')
       and messages.bot_id = :botId and messages.conversation_id = :conversationId and messages.direction = 'outgoing'
     order by messages.created_at, messages.id`,
    { id: event.id, botId: event.bot_id, conversationId: event.conversation_id },
  )
}

/** Where a conversation stands after an event, and its variables: `user`, `session`, `temp` and `context`. */
export async function findDialogState(
  db: Database,
  { bot_id: botId, user_id: userId, conversation_id: conversationId }: EventRow,
): Promise<Record<string, unknown>> {
  const rows = await query<{ name: string; type: string; payload: Record<string, unknown> }>(
    db,
    `select name, type, payload from states
     where bot_id = :botId and installation_id is null
       and (expires_at is null or expires_at > now() or name = '${flowStateName}')
       and (type, owner_id, name) in (
         ('user', :userId, 'state'), ('conversation', :conversationId, '${sessionName}'),
         ('conversation', :conversationId, '${flowStateName}')
       )`,
    { botId, userId, conversationId },
  )
  const payloadOf = (name: string) => rows.find((row) => row.name === name)?.payload ?? {}
  const position = payloadOf(flowStateName)['position'] as Position | undefined
  const frame = position?.frames.at(-1)
  return {
    user: payloadOf('state'),
    session: payloadOf(sessionName),
    temp: position?.temp ?? {},
    context: frame ? { currentFlow: frame.flow, currentNode: frame.node } : {},
  }
}

/** The parts of a stored position that are shown. */
interface Position {
  frames: { flow: string; node: string }[]
  temp: Record<string, unknown>
}
