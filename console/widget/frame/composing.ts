import { signal, type ReadonlySignal } from '@preact/signals'

/** The author of an answer that is being composed: a person by the id, or without one the bot. */
export interface Author {
  userId?: string
}

/** Shows that the bot, or a person in its place, composes an answer. */
export interface Composing {
  readonly author: ReadonlySignal<Author | undefined>
  /** Shows the author until `stop`, at the latest for some time. */
  start(author: Author, milliseconds?: number): void
  /** Hides the author, or the one that is shown. */
  stop(author?: Author): void
}

const typingMilliseconds = 5000

/** @param onChange called when the first author begins to compose an answer, and when the last one has stopped */
export function openComposing(onChange: (isTyping: boolean) => void): Composing {
  const shown = signal<Author | undefined>(undefined)
  let timer: ReturnType<typeof setTimeout> | undefined

  function show(author: Author | undefined): void {
    clearTimeout(timer)
    const wasTyping = shown.value !== undefined
    shown.value = author
    const isTyping = author !== undefined
    if (isTyping !== wasTyping) onChange(isTyping)
  }

  return {
    author: shown,
    start({ userId }, milliseconds = typingMilliseconds) {
      show({ ...(userId !== undefined && { userId }) })
      timer = setTimeout(() => show(undefined), milliseconds)
    },
    stop(author) {
      if (author === undefined || author.userId === shown.value?.userId) show(undefined)
    },
  }
}
