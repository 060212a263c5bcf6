/** A conversation's state: all texts received in it, in two forms. */
export interface Heard {
  count: number
  /** Depends on every text and on their order. */
  digest: number
}

/** The state after one more text. Runs here and, as text, in the bot. */
export function hear({ count = 0, digest = 0 }: Partial<Heard>, text: string): Heard {
  let next = digest
  for (const character of text) next = (Math.imul(next, 31) + character.codePointAt(0)!) | 0
  return { count: count + 1, digest: next }
}

/** The bot's reply. Runs in both places too. */
export function answerTo(text: string, { count, digest }: Heard): string {
  return `${text} is the text ${count} of ${digest}`
}

/** The bot's log line for a text. Runs in both places too. */
export function logOf(text: string): string {
  return `heard ${text}`
}

/**
 * Replies to each message with the resulting state. It waits before and after the reply, so that most faults occur in
 * the middle of a run.
 *
 * @param storing defines a function `store`, which is called between them with the number of the text
 */
export const botCode = (storing = 'async function store() {}') => `
  ${String(hear)}
  ${String(answerTo)}
  ${String(logOf)}
  ${storing}
  const pause = (most) => new Promise((resolve) => setTimeout(resolve, Math.random() * most))
  export const hooks = {
    async afterIncomingMessage({ event, client, state, logger }) {
      const heard = hear(state.conversation, event.preview)
      logger.info(logOf(event.preview))
      await pause(100)
      await client.createMessage({
        conversationId: event.conversationId,
        type: 'text',
        payload: { text: answerTo(event.preview, heard) },
      })
      await store(client, event.conversationId, Number(event.preview.slice('text '.length)))
      await pause(100)
      Object.assign(state.conversation, heard)
    },
  }`
