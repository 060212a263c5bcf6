import { effect, signal } from '@preact/signals'
import { ChatError } from '../../../shared/chat-client/chat-error.ts'
import type { Appearance } from '../../../shared/models/webchat-appearance.ts'
import type { Hello, ToFrame, ToPage } from '../protocol.ts'
import { request, type Ask } from './api.ts'
import { openComposing } from './composing.ts'
import { openConnection, type ConnectionState } from './connection.ts'
import { openConversationList } from './conversation-list.ts'
import { openCurrentConversation } from './current-conversation.ts'
import { openDraft } from './draft.ts'
import { openInitializer } from './initialize.ts'
import { openPageCalls } from './page-calls.ts'
import { openProfile } from './profile.ts'
import { openReceiver } from './receive.ts'
import { openSiteKeys } from './site-keys.ts'
import { openStorage } from './storage.ts'
import { openTranscript } from './transcript.ts'
import { openTyping } from './typing.ts'
import { openUnread } from './unread.ts'
import { openUploads } from './upload.ts'
import { openVisitor } from './visitor.ts'
import type { Payload, User } from './types.ts'

/** The chat of one visitor in one document: what is shown, and what the visitor and the page can do. */
export type Chat = ReturnType<typeof openChat>

/**
 * Opens the chat. It requests nothing before `enter`, so that a page view stores nothing.
 *
 * @param base address of the web chat, with a slash at its end
 * @param post sends a message to the page; a page of its own has none
 */
export function openChat(base: string, given: Appearance, hello: Hello, post: (message: ToPage) => void) {
  const webhookId = base.split('/').at(-2)!
  const storage = openStorage(webhookId)
  // A preview has the fields that its page gives, and no others.
  const configured = hello.sample ? {} : given
  const appearance = signal<Appearance>({ ...configured, ...hello.appearance })
  const isOpen = signal(hello.isOpen)
  const connection = signal<ConnectionState>('idle')
  const user = signal<User | undefined>(hello.sample && { id: 'visitor' })
  const visitor = openVisitor(storage, hello.user.userKey)
  const draft = openDraft(openStorage(webhookId, 'sessionStorage'), visitor)
  const ask: Ask = async <Answer>(...[method, path, body, options]: Parameters<Ask>) => {
    const key = visitor.key() ?? ''
    const author = visitor.id()
    const given = { ...(body && { body }), ...options }
    try {
      return await request<Answer>(base, method, path, { key, ...given })
    } catch (error) {
      // The stream ends up to 20 s after the key of the site: until then, nothing else says that it has expired.
      const isExpired = error instanceof ChatError && error.status === 401 && author !== undefined
      if (!isExpired || (visitor.key() === key && !(await keys.renew())) || visitor.id() !== author) throw error
      return request<Answer>(base, method, path, { key: visitor.key() ?? '', ...given })
    }
  }
  const emit = (name: string, data: unknown) => post({ type: 'event', name, data })

  const conversations = openConversationList(visitor, ask)
  const conversation = openCurrentConversation(visitor, hello.conversationId, conversations.newest)
  const transcript = openTranscript({
    storage,
    webhookId,
    visitor,
    user,
    current: conversation.id,
    sample: hello.sample,
    ask,
    onSent: (message) => emit('messageSent', message),
    // Another stream begins another conversation, which the message follows.
    onLost: () => stream.restart(),
  })
  const { messages, people, outbox } = transcript
  const composing = openComposing((isTyping) => emit('isTyping', { isTyping }))
  const profile = openProfile(
    hello.user,
    visitor,
    user,
    ask,
    (updated) => emit('user', updated),
    (error) => emit('error', { message: String(error) }),
  )
  const unread = openUnread(storage, visitor, { messages, user, isOpen }, (count) => post({ type: 'unread', count }))
  const uploads = openUploads(ask, entered, visitor.id, (payload, conversationId) => {
    outbox.add(payload, conversationId)
    outbox.flush()
  })

  const keys = openSiteKeys(hello.renewsKeys, post, takeKey)
  const initialized = openInitializer({
    visitor,
    user,
    conversation,
    transcript,
    profile,
    ask,
    onConversation: (conversationId) => emit('conversation', { conversationId }),
  })
  const stream = openConnection({
    base,
    lock: `isobot-webchat-${webhookId}-enter`,
    isNew: () => visitor.key() === undefined || conversation.isFirst(),
    identity: async () => {
      const conversationId = await conversation.request()
      return { key: visitor.key(), conversationId }
    },
    receive: openReceiver({ transcript, user, appearance, composing, initialized, post }),
    onState(state, error) {
      // The visitor cannot change it, and the developer of the page may.
      if (state === 'refused' && connection.value !== 'refused') emit('error', { message: String(error) })
      connection.value = state
    },
    renewKey: keys.renew,
  })

  /** Takes a key of the site. With that of another visitor, nothing of the former one is shown, sent or described. */
  function takeKey(userKey: string): void {
    const hadName = visitor.id() !== undefined
    if (!visitor.take(userKey)) return
    // Data that the page has set for an anonymous visitor belong to the visitor whom it identifies now.
    if (hadName) profile.clear()
    else profile.restart()
    conversation.restart()
    unread.restart()
    draft.restart()
    transcript.clear()
    composing.stop()
    conversations.clear()
  }

  function enter(): void {
    stream.start()
  }

  function openConversation(id: string | undefined): void {
    conversation.choose(id)
    transcript.clear()
    composing.stop()
    reconnect()
  }

  function reconnect(): void {
    if (connection.value === 'idle') return enter()
    connection.value = 'connecting'
    stream.restart()
  }

  /** Enters, and resolves to the id of the conversation when there is one. */
  function entered(): Promise<string> {
    enter()
    return new Promise((resolve) => {
      const stop = effect(() => {
        if (connection.value !== 'open' || conversation.id.value === undefined) return
        resolve(conversation.id.value)
        queueMicrotask(() => stop())
      })
    })
  }

  function say(payload: Payload): void {
    outbox.add(payload, conversation.id.value)
    enter()
    outbox.flush()
  }

  const call = openPageCalls(
    {
      say,
      openConversation,
      async sendEvent(data) {
        const id = await entered()
        await ask('POST', 'events', { conversationId: id, payload: { type: 'custom', data } })
      },
      updateUser(changed) {
        if (changed.userKey !== undefined && changed.userKey !== visitor.key()) {
          takeKey(changed.userKey)
          reconnect()
        }
        profile.add(changed)
        // The visitor is described after entering.
        return connection.value === 'idle' ? undefined : entered().then(() => profile.update(changed))
      },
      getUser: () => entered().then(() => user.value),
    },
    post,
  )

  return {
    mode: hello.mode,
    appearance,
    isOpen,
    connection,
    messages,
    unsent: transcript.unsent,
    composing: composing.author,
    user,
    conversations: conversations.shown,
    people,
    past: transcript.past,
    isRecalling: transcript.isRecalling,
    outbox,
    rate: transcript.rate,
    say,
    /** To be called at each change of what the visitor writes. */
    showTyping: openTyping({ ask, turns: people.turns, currentId: () => conversation.id.value }),
    enter,
    draft,
    uploads: uploads.list,
    attach: uploads.attach,
    dismissRefusals: uploads.dismissRefusals,
    /** Whether the visitor has been here before. */
    isKnown: () => visitor.key() !== undefined,
    openConversation,
    currentId: () => conversation.id.value,
    hide: () => post({ type: 'visibility', visibility: 'hide' }),
    listConversations: conversations.read,
    /** Carries out what the page asks for. */
    take(message: ToFrame): void {
      if (message.type === 'call') void call(message)
      else if (message.type === 'configure') appearance.value = { ...configured, ...message.appearance }
      else if (message.type === 'key') keys.receive(message.userKey)
      else {
        isOpen.value = message.isOpen
        if (message.isOpen && hello.mode !== 'embedded') enter()
      }
    },
  }
}
