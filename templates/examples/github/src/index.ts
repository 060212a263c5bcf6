import type { Client, Hooks, IncomingMessage, State } from 'isobot/bot'

declare module 'isobot/bot' {
  interface BotState {
    /** The conversations that watch a repository, by its name. */
    [repository: string]: string[] | undefined
  }
}

export const hooks: Hooks = {
  async afterIncomingMessage({ event, client, state }) {
    if (event.integration === 'github') await announce(event, client, state)
    else await answer(event, client, state)
  },
}

/** Says in each conversation that watches a repository what has happened there. */
async function announce({ preview, tags }: IncomingMessage, client: Client, state: State): Promise<void> {
  const repository = tags.conversation?.['github:repository'] ?? ''
  for (const conversationId of state.bot[repository] ?? []) await say(client, conversationId, preview)
}

/** Understands `watch owner/name` and `unwatch owner/name`. */
async function answer({ conversationId, preview }: IncomingMessage, client: Client, state: State): Promise<void> {
  const [, verb, repository] = /^(watch|unwatch)\s+([\w.-]+\/[\w.-]+)$/i.exec(preview.trim()) ?? []
  if (verb === undefined || repository === undefined) {
    return say(client, conversationId, 'Say “watch owner/name” to hear of the issues and pull requests of a repository.')
  }
  const others = (state.bot[repository] ?? []).filter((id) => id !== conversationId)
  const watches = verb.toLowerCase() === 'watch'
  state.bot[repository] = watches ? [...others, conversationId] : others
  await say(client, conversationId, watches ? `I tell you what happens in ${repository}.` : `No more of ${repository}.`)
}

async function say(client: Client, conversationId: string, text: string): Promise<void> {
  await client.createMessage({ conversationId, type: 'text', payload: { text } })
}
