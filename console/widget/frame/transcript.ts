import { signal, type ReadonlySignal } from '@preact/signals'
import { ChatError } from '../../../shared/chat-client/chat-error.ts'
import type { Ask } from './api.ts'
import { isBeingWritten, keyOf, merge, sentIdOf, type Shown } from './history.ts'
import { openOutbox, type Outbox, type Unsent } from './outbox.ts'
import { openPast, type MessagePage, type Past } from './past.ts'
import { openPeople, type People } from './people.ts'
import type { FrameStorage } from './storage.ts'
import type { Message, StreamFrame, User } from './types.ts'
import type { Visitor } from './visitor.ts'

/** The present conversation: its messages, those before and those on their way, and who answers. */
export interface Transcript {
  readonly messages: ReadonlySignal<Shown[]>
  readonly unsent: ReadonlySignal<Unsent[]>
  readonly people: People
  readonly past: Past
  /** Whether messages of the past have just been added, which are not to be announced as news. */
  readonly isRecalling: ReadonlySignal<boolean>
  readonly outbox: Outbox
  /** Shows what the first frame of a stream has, in place of another conversation. */
  begin(frame: Extract<StreamFrame, { type: 'init' }>['data'], isNewVisitor: boolean): void
  /** Shows a message, or its next part. @returns whether it was not shown before */
  receive(message: Message): boolean
  /** Hides a message that is deleted. */
  remove(messageId: string): void
  /** Hides everything. */
  clear(): void
  /** Rates a message of the bot, or takes the rating back. */
  rate(message: Shown, value: 'positive' | 'negative' | undefined): Promise<void>
}

interface Parts {
  storage: FrameStorage
  webhookId: string
  visitor: Visitor
  user: ReadonlySignal<User | undefined>
  /** The id of the present conversation. */
  current: ReadonlySignal<string | undefined>
  sample: Message[] | undefined
  ask: Ask
  onSent: (message: Message) => void
  /** The visitor no longer is in the present conversation, as after its deletion. */
  onLost: () => void
}

/** Screen readers look at a change of a page within this time. */
const recallMilliseconds = 1000

export function openTranscript(parts: Parts): Transcript {
  const { storage, webhookId, visitor, user, current, sample, ask, onSent, onLost } = parts
  const messages = signal<Shown[]>(sample ?? [])
  const unsent = signal<Unsent[]>([])
  const people = openPeople(() => user.value?.id)
  const isRecalling = signal(false)
  let recalling: ReturnType<typeof setTimeout> | undefined
  function recall(): void {
    isRecalling.value = true
    clearTimeout(recalling)
    recalling = setTimeout(() => (isRecalling.value = false), recallMilliseconds)
  }

  const outbox = openOutbox(
    storage,
    `isobot-webchat-${webhookId}`,
    visitor.id,
    async ({ id, conversationId, payload }, signal) => {
      const body = { conversationId, payload, metadata: { clientMessageId: id } }
      try {
        const { message } = await ask<{ message: Message }>('POST', 'messages', body, { once: id, signal })
        if (conversationId === current.value) add([message])
        onSent(message)
      } catch (error) {
        const isLost = error instanceof ChatError && error.type === 'Forbidden'
        if (isLost && conversationId === current.value) onLost()
        throw error
      }
    },
    () => (unsent.value = outbox.list()),
  )
  unsent.value = outbox.list()

  const past = openPast(
    (conversationId, nextToken) => {
      const query = new URLSearchParams({ nextToken, pageSize: '100' }).toString()
      return ask<MessagePage>('GET', `conversations/${encodeURIComponent(conversationId)}/messages?${query}`)
    },
    add,
    recall,
    (before) => (messages.value = messages.value.filter(({ createdAt }) => createdAt >= before)),
  )

  function add(given: Message[]): void {
    messages.value = merge(messages.value, given)
  }

  /** Takes the visitor's own messages out of the outbox. */
  function confirm(given: Message[]): void {
    for (const message of given) {
      const id = message.userId === user.value?.id ? sentIdOf(message) : undefined
      if (id !== undefined) outbox.remove(id)
    }
  }

  return {
    messages,
    unsent,
    people,
    past,
    isRecalling,
    outbox,
    begin({ conversation, messages: given, meta, participants, handovers }, isNewVisitor) {
      const isAnother = isNewVisitor || conversation.id !== messages.value[0]?.conversationId
      people.begin(participants, handovers)
      if (isAnother) messages.value = []
      if (isAnother && given.length > 0) recall()
      const newest = messages.value.findLast((message) => !isBeingWritten(message))?.createdAt
      messages.value = withoutDeleted(messages.value, given, meta.nextToken === undefined)
      add(given.toReversed())
      past.begin(conversation.id, { messages: given, meta }, newest)
      confirm(given)
    },
    receive(message) {
      const isFirst = messages.value.every((shown) => keyOf(shown) !== keyOf(message))
      // An earlier one that has changed is read with those around it.
      const [oldest] = messages.value
      if (isFirst && oldest && past.hasEarlier.value && message.createdAt < oldest.createdAt) return false
      add([message])
      confirm([message])
      return isFirst
    },
    remove(messageId) {
      messages.value = messages.value.filter(({ id }) => id !== messageId)
    },
    clear() {
      messages.value = []
      people.begin([], [])
      unsent.value = outbox.list()
    },
    async rate(message, value) {
      const { feedback, ...rest } = message
      add([value === undefined ? rest : { ...rest, feedback: { value } }])
      const path = `messages/${encodeURIComponent(message.id)}/feedback`
      try {
        await (value === undefined ? ask('DELETE', path) : ask('PUT', path, { value }))
      } catch {
        add([feedback ? { ...rest, feedback } : rest])
      }
    },
  }
}

/**
 * The shown messages without those that were deleted meanwhile.
 *
 * @param newest messages of the platform, the newest first
 * @param isWhole whether they are all that there are
 */
function withoutDeleted(shown: Shown[], newest: Message[], isWhole: boolean): Shown[] {
  const ids = new Set(newest.map(({ id }) => id))
  const from = isWhole ? '' : (newest.at(-1)?.createdAt ?? '')
  return shown.filter((message) => ids.has(message.id) || isBeingWritten(message) || message.createdAt < from)
}
