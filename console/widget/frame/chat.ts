import { computed, effect, signal } from '@preact/signals'
import { ChatError } from '../../../shared/chat-client/chat-error.ts'
import type { Appearance } from '../../../shared/models/webchat-appearance.ts'
import type { GivenUser, Hello, Method, ToFrame, ToPage } from '../protocol.ts'
import { request } from './api.ts'
import { openConnection, type ConnectionState, type Identity } from './connection.ts'
import { isBeingWritten, keyOf, merge, sentIdOf, type Shown } from './history.ts'
import { openOutbox, type Unsent } from './outbox.ts'
import { openPeople } from './people.ts'
import { openPast, type MessagePage } from './past.ts'
import { playTone } from './sound.ts'
import { openStorage } from './storage.ts'
import { maxFiles, upload } from './upload.ts'
import type { Conversation, Message, Payload, StreamFrame, User } from './types.ts'

const typingMilliseconds = 5000

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
  const appearance = signal<Appearance>({ ...given, ...hello.appearance })
  const isOpen = signal(hello.isOpen)
  const isVisible = signal(document.visibilityState === 'visible')
  document.addEventListener('visibilitychange', () => (isVisible.value = document.visibilityState === 'visible'))
  const connection = signal<ConnectionState>('idle')
  const messages = signal<Shown[]>([])
  const unsent = signal<Unsent[]>([])
  const isTyping = signal(false)
  const user = signal<User | undefined>(undefined)
  const people = openPeople(() => user.value?.id)
  /** Files on their way, and the names and reasons of those that were refused. */
  const uploads = signal<{ name: string; failure?: string }[]>([])
  const conversations = signal<Conversation[] | undefined>(undefined)
  // A key of the site is the site's to keep. Its visitors may share the browser: each has names of their own.
  let siteKey = hello.user.userKey
  const visitor = () => (siteKey === undefined ? undefined : idIn(siteKey))
  const conversationName = () => (siteKey === undefined ? 'conversation' : `conversation-${visitor()}`)
  const seenName = () => (siteKey === undefined ? 'seen' : `seen-${visitor()}`)
  /** The time of the newest message that the visitor has seen. */
  const seen = signal(storage.get(seenName()) ?? '')
  const current = signal(hello.conversationId ?? storage.get(conversationName()))
  /** The conversation that the present stream asked for. */
  let requested: string | undefined
  /** Whether the visitor has asked for a new conversation. */
  let wantsNew = false
  let givenUser: GivenUser = hello.user
  let typingTimer: ReturnType<typeof setTimeout> | undefined
  let awaitedKey: ((userKey: string | undefined) => void) | undefined

  const key = () => siteKey ?? storage.get('key')
  const ask = <Answer>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object, once?: string) =>
    request<Answer>(base, method, path, {
      key: key() ?? '',
      ...(body && { body }),
      ...(once !== undefined && { once }),
    })
  const emit = (name: string, data: unknown) => post({ type: 'event', name, data })

  const outbox = openOutbox(
    storage,
    `isobot-webchat-${webhookId}`,
    visitor,
    async ({ id, conversationId, payload }) => {
      const body = { conversationId, payload, metadata: { clientMessageId: id } }
      const { message } = await ask<{ message: Message }>('POST', 'messages', body, id)
      if (conversationId === current.value) add([message])
      emit('messageSent', message)
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
    (before) => (messages.value = messages.value.filter(({ createdAt }) => createdAt >= before)),
  )

  const stream = openConnection({
    base,
    lock: `isobot-webchat-${webhookId}-enter`,
    isNew: () => key() === undefined || (current.value === undefined && !wantsNew),
    identity,
    receive,
    onState: (state) => (connection.value = state),
    renewKey,
  })

  function add(given: Message[]): void {
    messages.value = merge(messages.value, given)
  }

  /** The key and the conversation to open: of a visitor whom the site names, the newest of any device. */
  async function identity(): Promise<Identity> {
    // Another tab may have begun a conversation since.
    if (!wantsNew) current.value ??= storage.get(conversationName())
    if (siteKey !== undefined && current.value === undefined && !wantsNew) {
      const listed = await ask<{ conversations: Conversation[] }>('GET', 'conversations').catch((error: unknown) => {
        // The visitor has not been here before.
        if (error instanceof ChatError && error.status === 404) return undefined
        throw error
      })
      current.value = listed?.conversations[0]?.id
    }
    requested = current.value
    return { key: key(), conversationId: requested }
  }

  /** Takes the visitor's own messages out of the outbox. */
  function confirm(given: Message[]): void {
    for (const message of given) {
      const id = message.userId === user.value?.id ? sentIdOf(message) : undefined
      if (id !== undefined) outbox.remove(id)
    }
  }

  function receive(frame: StreamFrame): void {
    switch (frame.type) {
      case 'init':
        return initialized(frame.data)
      case 'message_created':
      case 'message_updated':
        if (frame.data.userId !== user.value?.id) {
          isTyping.value = false
          const isFirst = messages.value.every((message) => keyOf(message) !== keyOf(frame.data))
          if (isFirst && appearance.value.soundEnabled) playTone()
        }
        add([frame.data])
        confirm([frame.data])
        if (frame.data.id.startsWith('msg_')) emit('message', frame.data)
        return
      case 'participant_added':
        people.add(frame.data.participant)
        return emit('participantAdded', frame.data.participant)
      case 'participant_removed':
        people.remove(frame.data.participantId)
        return emit('participantRemoved', frame.data.participantId)
      case 'handover_changed':
        return people.update(frame.data.handover)
      case 'typing_started':
        isTyping.value = true
        clearTimeout(typingTimer)
        typingTimer = setTimeout(() => (isTyping.value = false), frame.data.timeout ?? typingMilliseconds)
        return emit('isTyping', { isTyping: true })
      case 'typing_stopped':
        isTyping.value = false
        return emit('isTyping', { isTyping: false })
      case 'webchat_visibility':
        emit('webchatVisibility', frame.data)
        return post({ type: 'visibility', visibility: frame.data.visibility })
      case 'webchat_config':
        appearance.value = { ...appearance.value, ...readAppearance(frame.data.config) }
        return emit('webchatConfig', frame.data.config)
      case 'custom':
        emit('customEvent', frame.data.event)
    }
  }

  function initialized({
    conversation,
    messages: given,
    meta,
    participants,
    handovers,
    user: entered,
  }: Extract<StreamFrame, { type: 'init' }>['data']) {
    const { userKey, ...visitor } = entered
    const isNewVisitor = user.value === undefined ? false : user.value.id !== visitor.id
    const isAnother = isNewVisitor || conversation.id !== messages.value[0]?.conversationId
    if (siteKey === undefined) storage.set('key', userKey)
    current.value = conversation.id
    storage.set(conversationName(), conversation.id)
    user.value = visitor
    people.begin(participants, handovers)
    if (isAnother) messages.value = []
    const newest = messages.value.findLast((message) => !isBeingWritten(message))?.createdAt
    add(given.toReversed())
    past.begin(conversation.id, { messages: given, meta }, newest)
    confirm(given)
    // Messages follow a visitor whose key or conversation the platform no longer knows.
    const isReplaced = isNewVisitor && siteKey === undefined
    outbox.assign(conversation.id, (former) => isReplaced || former === requested)
    if (isNewVisitor) isDescribed = false
    emit('conversation', { conversationId: conversation.id })
    void begin(conversation.id, given.length === 0)
  }

  /** Describes the visitor before the bot acts on a message or the start of the conversation. */
  async function begin(id: string, isEmpty: boolean): Promise<void> {
    if (!isDescribed) await describeUser()
    // The visitor may have turned to another conversation since.
    if (current.value !== id) return
    outbox.flush()
    if (isEmpty) await startConversation(id)
  }

  /** Asks the bot for its welcome. The platform passes it on once for each conversation. */
  async function startConversation(id: string): Promise<void> {
    const payload = { type: 'conversation_started', data: {} }
    // The next connection repeats it.
    await ask('POST', 'events', { conversationId: id, payload }).catch(() => {})
  }

  let isDescribed = false
  async function describeUser(): Promise<void> {
    const described = visitor()
    try {
      await updateProfile(givenUser)
      if (described === visitor()) isDescribed = true
    } catch (error) {
      // The next connection repeats it.
      emit('error', { message: String(error) })
    }
  }

  async function updateProfile({ name, pictureUrl, data }: GivenUser): Promise<User | undefined> {
    const fields = { ...(name && { name }), ...(pictureUrl && { pictureUrl }), ...(data && { userData: data }) }
    if (Object.keys(fields).length === 0) return user.value
    const { user: updated } = await ask<{ user: User }>('PUT', 'users/me', fields)
    // The answer about a former visitor may come late.
    if (updated.id !== user.value?.id) return user.value
    user.value = updated
    emit('user', updated)
    return updated
  }

  async function renewKey(): Promise<boolean> {
    if (!hello.renewsKeys) return false
    post({ type: 'keyNeeded' })
    const userKey = await new Promise<string | undefined>((resolve) => (awaitedKey = resolve))
    if (userKey === undefined) return false
    takeKey(userKey)
    return true
  }

  /** Takes a key of the site. With that of another visitor, nothing of the former one is shown, sent or described. */
  function takeKey(userKey: string): void {
    const former = visitor()
    siteKey = userKey
    if (visitor() === former) return
    if (former !== undefined) givenUser = {}
    isDescribed = false
    wantsNew = false
    current.value = storage.get(conversationName())
    seen.value = storage.get(seenName()) ?? ''
    messages.value = []
    people.begin([], [])
    isTyping.value = false
    conversations.value = undefined
    unsent.value = outbox.list()
  }

  function enter(): void {
    stream.start()
  }

  function openConversation(id: string | undefined): void {
    current.value = id
    wantsNew = id === undefined
    messages.value = []
    people.begin([], [])
    isTyping.value = false
    reconnect()
  }

  function reconnect(): void {
    if (connection.value === 'idle') return enter()
    connection.value = 'connecting'
    stream.restart()
  }

  /** Resolves when there is a conversation. */
  function entered(): Promise<string> {
    enter()
    return new Promise((resolve) => {
      const stop = effect(() => {
        if (connection.value !== 'open' || current.value === undefined) return
        resolve(current.value)
        queueMicrotask(() => stop())
      })
    })
  }

  function say(payload: Payload): void {
    outbox.add(payload, current.value)
    enter()
    outbox.flush()
  }

  const methods: Record<Method, (argument: unknown) => unknown> = {
    sendMessage(text) {
      if (typeof text !== 'string' || text.trim() === '') throw new Error('sendMessage needs a text')
      say({ type: 'text', text })
    },
    async sendEvent(data) {
      if (typeof data !== 'object' || data === null) throw new Error('sendEvent needs an object')
      const id = await entered()
      await ask('POST', 'events', { conversationId: id, payload: { type: 'custom', data } })
    },
    async updateUser(argument) {
      const changed = (argument ?? {}) as GivenUser
      if (changed.userKey !== undefined && changed.userKey !== siteKey) {
        takeKey(changed.userKey)
        reconnect()
      }
      givenUser = { ...givenUser, ...changed }
      // The visitor is described after entering.
      return connection.value === 'idle' ? undefined : entered().then(() => updateProfile(changed))
    },
    getUser: () => entered().then(() => user.value),
    restartConversation: () => openConversation(undefined),
  }

  async function call({ id, method, argument }: Extract<ToFrame, { type: 'call' }>): Promise<void> {
    try {
      post({ type: 'result', id, value: await methods[method](argument) })
    } catch (error) {
      post({ type: 'result', id, error: error instanceof Error ? error.message : String(error) })
    }
  }

  const unread = computed(
    () => messages.value.filter(({ userId, createdAt }) => userId !== user.value?.id && createdAt > seen.value).length,
  )
  effect(() => {
    const last = messages.value.at(-1)
    if (!last || !isOpen.value || !isVisible.value || last.createdAt <= seen.value) return
    seen.value = last.createdAt
    storage.set(seenName(), last.createdAt)
  })
  effect(() => post({ type: 'unread', count: unread.value }))

  return {
    mode: hello.mode,
    appearance,
    isOpen,
    connection,
    messages,
    unsent,
    isTyping,
    user,
    conversations,
    people,
    past,
    outbox,
    say,
    enter,
    uploads,
    /** Uploads files, and sends each as a message. Unlike texts, they do not survive the document. */
    async attach(files: Iterable<File>): Promise<void> {
      uploads.value = []
      const conversationId = await entered()
      for (const file of [...files].slice(0, maxFiles)) {
        const others = uploads.value
        uploads.value = [...others, { name: file.name }]
        try {
          const payload = await upload(ask, file, conversationId)
          if (conversationId === current.value) say(payload)
          uploads.value = others
        } catch (error) {
          uploads.value = [...others, { name: file.name, failure: error instanceof Error ? error.message : '' }]
        }
      }
    },
    /** Whether the visitor has been here before. */
    isKnown: () => key() !== undefined,
    openConversation,
    currentId: () => current.value,
    hide: () => post({ type: 'visibility', visibility: 'hide' }),
    async listConversations(): Promise<void> {
      if (key() === undefined) return void (conversations.value = [])
      const { conversations: listed } = await ask<{ conversations: Conversation[] }>('GET', 'conversations')
      conversations.value = listed.filter(({ lastMessage }) => lastMessage !== undefined)
    },
    async rate(message: Shown, value: 'positive' | 'negative' | undefined): Promise<void> {
      const { feedback, ...rest } = message
      add([value === undefined ? rest : { ...rest, feedback: { value } }])
      const path = `messages/${encodeURIComponent(message.id)}/feedback`
      try {
        await (value === undefined ? ask('DELETE', path) : ask('PUT', path, { value }))
      } catch {
        add([feedback ? { ...rest, feedback } : rest])
      }
    },
    /** Carries out what the page asks for. */
    take(message: ToFrame): void {
      if (message.type === 'call') void call(message)
      else if (message.type === 'configure') appearance.value = { ...given, ...message.appearance }
      else if (message.type === 'key') {
        awaitedKey?.(message.userKey)
        awaitedKey = undefined
      } else {
        isOpen.value = message.isOpen
        if (message.isOpen && hello.mode !== 'embedded') enter()
      }
    },
  }
}

/** The visitor whom a key names, or nothing legible. The platform verifies the key. */
function idIn(key: string): string {
  try {
    const claims = key.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(claims), (character) => character.charCodeAt(0))
    return String((JSON.parse(new TextDecoder().decode(bytes)) as { id?: unknown }).id)
  } catch {
    return ''
  }
}

const changeable = ['botName', 'botDescription', 'botAvatar', 'color', 'themeMode', 'composerPlaceholder'] as const

/** The fields of a bot's change that can be shown at once. */
function readAppearance(config: Record<string, unknown>): Appearance {
  return Object.fromEntries(
    changeable.flatMap((name) => (typeof config[name] === 'string' ? [[name, config[name]]] : [])),
  )
}
