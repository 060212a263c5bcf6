import { ChatError } from '../../../shared/chat-client/chat-error.ts'
import { openChatStream, type ChatSignal, type ChatStream } from '../../../shared/chat-client/chat-stream.ts'
import { hold, inTurn, isHeld } from './in-turn.ts'
import { waitOf } from './outbox.ts'
import type { StreamFrame } from './types.ts'

/** `refused`: neither the visitor nor time can change it, as far as the frame knows. */
export type ConnectionState = 'idle' | 'connecting' | 'open' | 'lost' | 'refused'

/** Keeps a stream of a conversation open. */
export interface Connection {
  /** Opens the stream, unless it is open or being opened. */
  start(): void
  /** Opens another stream in place of the present one, after a change of key or conversation. */
  restart(): void
}

/** Both are absent for a new visitor, and the conversation for a new one. */
interface Identity {
  key: string | undefined
  conversationId: string | undefined
}

interface Parts {
  base: string
  /** The name of a lock for new visitors and conversations: several tabs have one between them. */
  lock: string
  /** Whether the present identity lacks the visitor or the conversation. */
  isNew(): boolean
  /** The present key and conversation. @throws ChatError when the platform refuses the key */
  identity(): Promise<Identity>
  receive(frame: StreamFrame): void
  /** @param error why it is refused */
  onState(state: ConnectionState, error?: unknown): void
  /** Gets another key after a refusal. @returns whether there is one */
  renewKey(): Promise<boolean>
}

const refusedMilliseconds = 60_000
/** Renewals of a key before the next pause. */
const maxRenewals = 2
/** A tab that is not looked at for longer needs no connection: browsers allow few to one server, over all tabs. */
const hiddenMilliseconds = 60_000
/** Upper bound of the time after which a tab sees what another has stored, on a busy machine too. */
const sharedMilliseconds = 3000
const sharedIntervalMilliseconds = 20
/** An attempt without a first frame for longer is replaced when the visitor returns. */
const slowMilliseconds = 2000

export function openConnection({ base, lock, isNew, identity, receive, onState, renewKey }: Parts): Connection {
  let isRunning = false
  let failures = 0
  /** Keys that were renewed since the last success or pause. */
  let renewals = 0
  /** Ends the present attempt, or the stream that it has opened: frames that arrive later are dropped. */
  let attempt = new AbortController()
  let attemptedAt = 0
  /** Whether the first frame of the present stream has arrived. */
  let isOpen = false
  let wake: (() => void) | undefined
  let hiding: ReturnType<typeof setTimeout> | undefined
  let isPaused = false

  const pause = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  /** Opens a stream, and resolves when its first frame has arrived, or it has ended before. */
  async function open(signal: AbortSignal): Promise<ChatStream> {
    signal.throwIfAborted()
    let begin!: () => void
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const { key = '', conversationId } = await identity()
    signal.throwIfAborted()
    const query = conversationId === undefined ? '' : `?conversationId=${encodeURIComponent(conversationId)}`
    const take = (received: ChatSignal) => {
      // The web chat has frames of its own, in the form of the chat's signals.
      const frame = received as unknown as StreamFrame
      if (signal.aborted) return
      if (frame.type === 'init') {
        failures = 0
        renewals = 0
        isOpen = true
        onState('open')
      }
      receive(frame)
      begin()
    }
    const opened = await openChatStream(`${base}initialize${query}`, key, take, signal)
    await Promise.race([begun, opened.ended])
    return opened
  }

  /** Opens the stream of a new visitor or conversation, as the one tab that does, unless another has before. */
  async function enter(signal: AbortSignal): Promise<ChatStream> {
    // Tabs that have stored a visitor and a conversation hold it: this tab may see what they stored after their turn has ended.
    const stored = `${lock}-stored`
    const until = (await isHeld(stored)) ? Date.now() + sharedMilliseconds : 0
    while (isNew() && Date.now() < until && !signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, sharedIntervalMilliseconds))
    }
    const opened = await open(signal)
    if (!isNew()) await hold(stored)
    return opened
  }

  async function listen(signal: AbortSignal): Promise<void> {
    const entering = () => orAborted(enter(signal), signal)
    const opened = await orAborted(isNew() ? inTurn(lock, entering) : open(signal), signal)
    await opened.ended
  }

  async function run(): Promise<void> {
    onState('connecting')
    while (true) {
      if (isPaused) {
        await pause(2 ** 30)
        continue
      }
      attempt = new AbortController()
      attemptedAt = Date.now()
      const { signal } = attempt
      let milliseconds: number
      try {
        await listen(signal)
        if (signal.aborted) continue
        milliseconds = waitOf(failures)
        onState('lost')
      } catch (error) {
        if (signal.aborted) continue
        const status = error instanceof ChatError ? error.status : 0
        failures++
        if (status === 401 && renewals < maxRenewals && (await renewKey())) {
          renewals++
          continue
        }
        // The renewal may have taken long.
        if (signal.aborted) continue
        renewals = 0
        const isRefused = [401, 403, 404].includes(status)
        onState(isRefused ? 'refused' : 'lost', error)
        milliseconds = isRefused ? refusedMilliseconds : waitOf(failures)
      } finally {
        isOpen = false
      }
      await pause(milliseconds)
    }
  }

  /** Opens another stream at once, unless the tab is hidden. */
  function replace(): void {
    attempt.abort()
    wake?.()
  }

  function restart(): void {
    failures = 0
    renewals = 0
    replace()
  }

  // Connections from before the network was gone are broken, even where no error has said so.
  addEventListener('online', replace)
  // A stream whose network is gone gets no error, and ends only when no ping has arrived for a minute.
  addEventListener('offline', () => {
    if (isRunning) onState('lost')
  })
  function followVisibility(): void {
    clearTimeout(hiding)
    if (document.visibilityState === 'visible') {
      isPaused = false
      if (!isOpen && Date.now() - attemptedAt > slowMilliseconds) replace()
    } else {
      hiding = setTimeout(() => {
        isPaused = true
        attempt.abort()
        if (isOpen) onState('lost')
      }, hiddenMilliseconds)
    }
  }
  document.addEventListener('visibilitychange', followVisibility)
  followVisibility()

  return {
    start() {
      if (isRunning) return
      isRunning = true
      void run()
    },
    restart,
  }
}

/** The result of work, unless the signal is aborted before: work on a connection that is gone may take minutes to end. */
function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  return Promise.race([work, aborted])
}
