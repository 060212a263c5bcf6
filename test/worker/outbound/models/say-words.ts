/** Set before the bot is loaded. */
declare global {
  /** Where the provider is. */
  const providerUrl: string
  /** Whether the bot has heard enough at the first word. */
  const hearsOneWord: boolean
}

interface Argument {
  event: { conversationId: string; preview: string }
  client: { streamMessage(id: string): { write(text: string): Promise<void>; end(): Promise<unknown> } }
}

/** A bot that says what a model answers, while it answers. */
export function streamWords(ask: (prompt: string) => AsyncIterable<string>) {
  return {
    async afterIncomingMessage({ event, client }: Argument): Promise<void> {
      const message = client.streamMessage(event.conversationId)
      for await (const word of ask(event.preview)) {
        await message.write(word)
        if (hearsOneWord) break
      }
      await message.end()
    },
  }
}
