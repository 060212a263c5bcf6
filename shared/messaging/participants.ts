import type { Context } from '../context.ts'
import { publishEntry } from '../signals/after-commit.ts'
import type { LogEntry } from '../store/conversation-log.ts'
import { insertParticipant } from '../store/conversations.ts'
import type { Database } from '../store/database.ts'
import type { ConversationRow } from '../models/tables.ts'

/** A user's way into a conversation, as it is announced. */
export interface Entrance {
  entry: LogEntry
  /** The id by which clients know the user. */
  participantId: string
}

/** Adds a participant to a conversation. Undefined when the user is a participant already. */
export async function enter(
  db: Database,
  conversation: ConversationRow,
  user: { id: string; foreign_id: string | null },
): Promise<Entrance | undefined> {
  const participantId = user.foreign_id ?? user.id
  const entry = await insertParticipant(db, conversation, user.id, addition(conversation.id, participantId))
  return entry && { entry, participantId }
}

/** Publishes that a user has entered a conversation, after the commit. */
export async function publishEntrance(context: Context, { entry, participantId }: Entrance): Promise<void> {
  // A replayed result is plain JSON: `at` is a string.
  await publishEntry(context, { ...entry, at: new Date(entry.at) }, addition(entry.conversationId, participantId))
}

function addition(conversationId: string, participantId: string) {
  return { type: 'participant_added', data: { conversationId, participantId } } as const
}
