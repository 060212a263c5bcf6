import { ChatError } from '../../../shared/chat-client/chat-error.ts'
import { openChatStream, type ChatStream } from '../../../shared/chat-client/chat-stream.ts'
import { inTurn } from './in-turn.ts'
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
export interface Identity {
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
  onState(state: ConnectionState): void
  /** Gets another key after a refusal. @returns whether there is one */
  renewKey(): Promise<boolean>
}

const refusedMilliseconds = 60_000
/** Renewals of a key before the next pause. */
const maxRenewals = 2
/** A tab that is not looked at for longer needs no connection: browsers allow few to one server, over all tabs. */
const hiddenMilliseconds = 60_000

export function openConnection({ base, lock, isNew, identity, receive, onState, renewKey }: Parts): Connection {
  let isRunning = false
  let failures = 0
  /** Keys that were renewed since the last success or pause. */
  let renewals = 0
  let stream: ChatStream | undefined
  /** Counts the changes of the identity: frames of an earlier one are dropped. */
  let generation = 0
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
  async function open(mine: number): Promise<ChatStream> {
    let begin!: () => void
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const { key = '', conversationId } = await identity()
    const query = conversationId === undefined ? '' : `?conversationId=${encodeURIComponent(conversationId)}`
    const opened = await openChatStream(`${base}initialize${query}`, key, (signal) => {
      // The web chat has frames of its own, in the form of the chat's signals.
      const frame = signal as unknown as StreamFrame
      if (mine !== generation) return
      if (frame.type === 'init') {
        failures = 0
        renewals = 0
        onState('open')
      }
      receive(frame)
      begin()
    })
    stream = opened
    if (mine !== generation) opened.close()
    await Promise.race([begun, opened.ended])
    return opened
  }

  async function listen(): Promise<void> {
    const mine = generation
    const opened = await (isNew() ? inTurn(lock, () => open(mine)) : open(mine))
    await opened.ended
  }

  async function run(): Promise<void> {
    onState('connecting')
    while (true) {
      let milliseconds: number
      const before = generation
      try {
        await listen()
        milliseconds = waitOf(failures)
        if (before === generation) onState('lost')
      } catch (error) {
        const status = error instanceof ChatError ? error.status : 0
        failures++
        if (status === 401 && renewals < maxRenewals && (await renewKey())) {
          renewals++
          continue
        }
        renewals = 0
        const isRefused = [401, 403, 404].includes(status)
        onState(isRefused ? 'refused' : 'lost')
        milliseconds = isRefused ? refusedMilliseconds : waitOf(failures)
      }
      if (before === generation) await pause(isPaused ? 2 ** 30 : milliseconds)
    }
  }

  function restart(): void {
    failures = 0
    renewals = 0
    generation++
    stream?.close()
    wake?.()
  }

  addEventListener('online', () => wake?.())
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding)
    if (document.visibilityState === 'visible') {
      if (isPaused) wake?.()
      isPaused = false
    } else {
      hiding = setTimeout(() => {
        isPaused = true
        stream?.close()
      }, hiddenMilliseconds)
    }
  })

  return {
    start() {
      if (isRunning) return
      isRunning = true
      void run()
    },
    restart,
  }
}
