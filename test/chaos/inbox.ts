/**
 * Hands conversations over through the inbox, as plugins do, and copies messages both ways. `round` is kept in tags, so that an
 * event of the inbox finds that of the user's conversation.
 */
export const inboxRoute = `
  const call = async (client, name, input) => (await client.callAction({ type: 'inbox:' + name, input })).output
  const tagsOf = async (client, id) => (await client.getConversation({ id })).conversation.tags
  async function beginSession(client, { conversationId, preview }, [word, round]) {
    const { userId } = await call(client, 'createUser', { name: 'User ' + round })
    const messageHistory = [{ source: { type: 'user', userId }, type: 'text', payload: { text: preview } }]
    const hitlSession = word === 'ask-briefly' ? { expiresInSeconds: 2 } : {}
    const title = conversationId + ' ' + round
    const session = await call(client, 'startHitl', { userId, title, hitlSession, messageHistory })
    const tags = { below: session.conversationId, patient: userId, round }
    await client.updateConversation({ id: conversationId, tags })
    await client.updateConversation({ id: session.conversationId, tags: { above: conversationId } })
  }
  /** @returns whether the conversation belongs to a session */
  async function copy(client, { conversationId, preview }) {
    const { above, below, patient } = await tagsOf(client, conversationId)
    const say = (conversationId, payload) => client.createMessage({ conversationId, type: 'text', payload })
    if (above) await say(above, { text: preview })
    else if (below) await say(below, { text: preview, userId: patient })
    return Boolean(above || below)
  }
  async function endSession(client, { above }) {
    const { round } = await tagsOf(client, above)
    await client.updateConversation({ id: above, tags: { below: '' } })
    await client.createMessage({ conversationId: above, type: 'text', payload: { text: 'stopped ' + round } })
  }`
