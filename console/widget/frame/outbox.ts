import { ChatError } from '../../../shared/chat-client/chat-error.ts'
import { failureOf, type Failure } from './failure.ts'
import { inTurn } from './in-turn.ts'
import type { FrameStorage } from './storage.ts'
import type { Payload } from './types.ts'

/** A message that the platform has not confirmed. */
export interface Unsent {
  /** Names the message for good: sent again, it is stored once. */
  id: string
  createdAt: string
  payload: Payload
  /** Absent until the visitor has a conversation. */
  conversationId?: string
  /** Absent for a visitor whom the site does not name. */
  visitor?: string
  /** Why the platform refused it. */
  failure?: Failure
}

/**
 * Messages on their way, in the order in which they were written. Each is stored under a name of its own, so that tabs
 * which write at the same time overwrite nothing, and is removed when the platform has confirmed it. Those of another
 * visitor of this browser wait until that visitor is back: they are neither listed nor sent.
 */
export interface Outbox {
  list(): Unsent[]
  add(payload: Payload, conversationId: string | undefined): Unsent
  remove(id: string): void
  /** Tries a refused message again. */
  retry(id: string): void
  /** Gives this conversation to messages without one, and to those of conversations that are lost. */
  assign(conversationId: string, isLost: (former: string) => boolean): void
  /** Sends all messages that have a conversation, one after the other; again later if the platform is unavailable. */
  flush(): void
}

const prefix = 'out-'
const visibleSeconds = 8
const hiddenSeconds = 30
/** A message without an answer for longer is sent again when the visitor or the network returns. */
const slowMilliseconds = 2000

/**
 * @param visitor names the present visitor, if the site does
 * @param send sends one message until it is aborted. @throws ChatError when the platform refuses it, another error when it is unavailable
 * @param onChange is called after each change, of other tabs too
 */
export function openOutbox(
  storage: FrameStorage,
  lock: string,
  visitor: () => string | undefined,
  send: (message: Unsent & { conversationId: string }, signal: AbortSignal) => Promise<void>,
  onChange: () => void,
): Outbox {
  let isFlushing = false
  let flushAgain = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let added = 0
  storage.onChange(prefix, onChange)

  /** The message on its way. */
  let attempt = new AbortController()
  let attemptedAt = 0

  const retryNow = () => {
    if (isFlushing && Date.now() - attemptedAt > slowMilliseconds) {
      // Sent over a connection that is gone, it would get no answer. The platform stores it once.
      attempt.abort()
      void flush()
    } else if (timer !== undefined) void flush()
  }
  addEventListener('online', retryNow)
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') retryNow()
  })

  const entries = () =>
    storage.names(prefix).flatMap((name) => {
      const message = read(storage.get(name))
      return message && message.visitor === visitor() ? [{ name, message }] : []
    })
  const nameOf = (id: string) => entries().find(({ message }) => message.id === id)?.name

  function write(name: string, message: Unsent): void {
    storage.set(name, JSON.stringify(message))
    onChange()
  }

  function remove(id: string): void {
    const name = nameOf(id)
    if (name === undefined) return
    storage.remove(name)
    onChange()
  }

  /** @returns whether all messages are sent or refused */
  async function sendAll(): Promise<boolean> {
    for (const { name, message } of entries()) {
      const { conversationId, failure } = message
      if (conversationId === undefined || failure !== undefined) continue
      // Another tab may have sent it since, or the visitor may be another.
      if (storage.get(name) === undefined || message.visitor !== visitor()) continue
      try {
        attempt = new AbortController()
        attemptedAt = Date.now()
        await send({ ...message, conversationId }, attempt.signal)
        remove(message.id)
      } catch (error) {
        if (!isRefusal(error)) return false
        if (storage.get(name) !== undefined) write(name, { ...message, failure: failureOf(error) })
      }
    }
    return true
  }

  async function flush(): Promise<void> {
    flushAgain = isFlushing
    if (isFlushing) return
    isFlushing = true
    clearTimeout(timer)
    timer = undefined
    try {
      // Messages of several tabs keep their order.
      const isDone = await inTurn(lock, sendAll)
      failures = isDone ? 0 : failures + 1
      if (!isDone) timer = setTimeout(() => void flush(), waitOf(failures))
    } finally {
      isFlushing = false
    }
    if (flushAgain) void flush()
  }

  return {
    list: () => entries().map(({ message }) => message),
    add(payload, conversationId) {
      const now = new Date()
      const author = visitor()
      const order = `${String(now.getTime()).padStart(15, '0')}-${String(added++).padStart(6, '0')}`
      const message = {
        id: newId(),
        createdAt: now.toISOString(),
        payload,
        ...(conversationId !== undefined && { conversationId }),
        ...(author !== undefined && { visitor: author }),
      }
      write(`${prefix}${order}-${message.id}`, message)
      return message
    },
    remove,
    retry(id) {
      const found = entries().find(({ message }) => message.id === id)
      if (!found) return
      const { failure: _failure, ...message } = found.message
      write(found.name, message)
      void flush()
    },
    assign(conversationId, isLost) {
      for (const { name, message } of entries()) {
        const { failure, conversationId: former, ...rest } = message
        if (former === conversationId || (former !== undefined && !isLost(former))) continue
        // The refusal of a lost conversation says nothing about this one.
        const isRefused = former === undefined && failure !== undefined
        write(name, { ...rest, conversationId, ...(isRefused && { failure }) })
      }
    },
    flush: () => void flush(),
  }
}

function read(stored: string | undefined): Unsent | undefined {
  try {
    return stored === undefined ? undefined : (JSON.parse(stored) as Unsent)
  } catch {
    return undefined
  }
}

/** Whether the same request would be refused again. A request in flight, a limit and a lost key pass. */
export function isRefusal(error: unknown): error is ChatError {
  if (!(error instanceof ChatError)) return false
  return error.status < 500 && ![401, 408, 409, 425, 429].includes(error.status)
}

/**
 * Milliseconds before the next attempt: longer after each failure, but not for long while the visitor looks at the page,
 * and not those of all visitors at the same moment.
 */
export function waitOf(failures: number): number {
  const maxSeconds = document.visibilityState === 'visible' ? visibleSeconds : hiddenSeconds
  return Math.min(maxSeconds * 1000, 500 * 2 ** failures) * (0.5 + Math.random() / 2)
}

/** A random id; `crypto.randomUUID` exists only on secure pages. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
