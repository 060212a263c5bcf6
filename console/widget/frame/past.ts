import { signal, type ReadonlySignal } from '@preact/signals'
import { waitOf } from './outbox.ts'
import type { Message } from './types.ts'

/** Messages, the newest first, and the token of those before them. */
export interface MessagePage {
  messages: Message[]
  meta: { nextToken?: string }
}

/** The messages before those of a stream's first frame: missed ones are read at once, earlier ones on request. */
export interface Past {
  /** Whether there are messages before the first that is shown. */
  readonly hasEarlier: ReadonlySignal<boolean>
  /**
   * Takes the first frame of a stream.
   *
   * @param newest time of the newest message that was shown before; undefined when none was
   */
  begin(conversationId: string, frame: MessagePage, newest: string | undefined): void
  /** Shows a page of earlier messages. Nothing changes when the platform is unavailable. */
  readEarlier(): Promise<void>
}

/** Pages of missed messages. Of a conversation with more, those before them become earlier ones. */
const maxPages = 20
const maxFailures = 5

/**
 * @param read asks the platform for the page of a token. @throws Error when it is unavailable
 * @param add shows messages
 * @param recall is called before messages are added that the visitor has asked for
 * @param forget hides the messages before a time
 */
export function openPast(
  read: (conversationId: string, nextToken: string) => Promise<MessagePage>,
  add: (messages: Message[]) => void,
  recall: () => void,
  forget: (before: string) => void,
): Past {
  const hasEarlier = signal(false)
  let conversationId = ''
  let earlier: string | undefined
  /** The time after which messages are missing, until all are read: an interruption must not leave a gap. */
  let missingAfter: string | undefined
  /** Counts the streams: a later one begins anew. */
  let generation = 0

  function setEarlier(token: string | undefined): void {
    earlier = token
    hasEarlier.value = token !== undefined
  }

  async function catchUp({ messages, meta }: MessagePage, after: string): Promise<void> {
    const mine = generation
    let oldest = messages.at(-1)?.createdAt ?? ''
    let token = meta.nextToken
    let pages = 0
    let failures = 0
    while (token !== undefined && oldest > after) {
      if (pages === maxPages) {
        forget(oldest)
        setEarlier(token)
        break
      }
      try {
        const page = await read(conversationId, token)
        if (mine !== generation) return
        add(page.messages)
        oldest = page.messages.at(-1)?.createdAt ?? ''
        token = page.meta.nextToken
        pages++
      } catch {
        // The next connection repeats it.
        if (failures++ === maxFailures) return
        await new Promise((resolve) => setTimeout(resolve, waitOf(failures)))
        if (mine !== generation) return
      }
    }
    missingAfter = undefined
  }

  return {
    hasEarlier,
    begin(id, frame, newest) {
      generation++
      conversationId = id
      missingAfter = newest === undefined ? undefined : (missingAfter ?? newest)
      if (missingAfter === undefined) setEarlier(frame.meta.nextToken)
      else void catchUp(frame, missingAfter)
    },
    async readEarlier() {
      const [mine, token] = [generation, earlier]
      if (token === undefined) return
      const page = await read(conversationId, token).catch(() => undefined)
      if (!page || mine !== generation || token !== earlier) return
      recall()
      add(page.messages)
      setEarlier(page.meta.nextToken)
    },
  }
}
