import type { Signal } from '@preact/signals'
import type { Ask } from './api.ts'
import type { CurrentConversation } from './current-conversation.ts'
import type { Profile } from './profile.ts'
import type { Transcript } from './transcript.ts'
import type { StreamFrame, User } from './types.ts'
import type { Visitor } from './visitor.ts'

interface Parts {
  visitor: Visitor
  user: Signal<User | undefined>
  conversation: CurrentConversation
  transcript: Transcript
  profile: Profile
  ask: Ask
  /** Tells the page which conversation it is. */
  onConversation: (id: string) => void
}

type Initialization = Extract<StreamFrame, { type: 'init' }>['data']

/** Carries out the first frame of a stream, which has the visitor and the conversation. */
export function openInitializer(parts: Parts): (frame: Initialization) => void {
  const { visitor, user, conversation, transcript, profile, ask, onConversation } = parts

  /** Describes the visitor before the bot acts on a message or the start of the conversation. */
  async function begin(id: string, isEmpty: boolean): Promise<void> {
    await profile.describe()
    // The visitor may have turned to another conversation since.
    if (conversation.id.value !== id) return
    transcript.outbox.flush()
    if (!isEmpty) return
    // The bot is asked for its welcome once for each conversation, however often this is sent. The next connection repeats it.
    const payload = { type: 'conversation_started', data: {} }
    await ask('POST', 'events', { conversationId: id, payload }).catch(() => {})
  }

  return (frame) => {
    const { userKey, ...known } = frame.user
    const { id } = frame.conversation
    const isNewVisitor = user.value !== undefined && user.value.id !== known.id
    visitor.keep(userKey)
    conversation.begin(id)
    user.value = known
    transcript.begin(frame, isNewVisitor)
    // Messages follow a visitor whose key or conversation the platform no longer knows.
    const isReplaced = isNewVisitor && visitor.id() === undefined
    transcript.outbox.assign(id, (former) => isReplaced || conversation.isRequested(former))
    if (isNewVisitor) profile.restart()
    onConversation(id)
    void begin(id, frame.messages.length === 0)
  }
}
