import type { Client, Hooks, IncomingMessage, State } from 'isobot/bot'

declare module 'isobot/bot' {
  interface BotState {
    /** The conversations that watch a repository, by its name. */
    [repository: string]: string[] | undefined
  }
}

export const hooks: Hooks = {
  async afterIncomingMessage({ event, client, state }) {
    // The tag that the integration gives its conversations; `github` is its alias in isobot.json.
    const repository = event.tags.conversation?.['github:repository']
    if (repository === undefined) return answer(event, client, state)
    // The message says what has happened in the repository.
    for (const conversationId of state.bot[repository] ?? []) await say(client, conversationId, event.preview)
  },
}

/** Understands `watch owner/name` and `unwatch owner/name`. */
async function answer({ conversationId, preview }: IncomingMessage, client: Client, state: State): Promise<void> {
  const [, verb, repository] = /^(watch|unwatch)\s+([\w.-]+\/[\w.-]+)$/i.exec(preview.trim()) ?? []
  if (verb === undefined || repository === undefined) {
    return say(
      client,
      conversationId,
      'Say “watch owner/name” to hear of the issues and pull requests of a repository.',
    )
  }
  const others = (state.bot[repository] ?? []).filter((id) => id !== conversationId)
  const watches = verb.toLowerCase() === 'watch'
  state.bot[repository] = watches ? [...others, conversationId] : others
  await say(client, conversationId, watches ? `I tell you what happens in ${repository}.` : `No more of ${repository}.`)
}

async function say(client: Client, conversationId: string, text: string): Promise<void> {
  await client.createMessage({ conversationId, type: 'text', payload: { text } })
}
