import { hostile } from '../hostile.ts'

/** A token says where a page begins, and nothing of whose it is. */
export default hostile({
  body: `
    const encode = (text) => btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
    const token = (id) => encode(Date.now() + 1e9 + ' ' + id)
    const seen = []
    for (const id of [neighbour.messageId, neighbour.conversationId, neighbour.userId, 'zzzz']) {
      const nextToken = token(id)
      const { messages } = await client.listMessages({ nextToken })
      const { users } = await client.listUsers({ nextToken })
      const { conversations } = await client.listConversations({ nextToken })
      seen.push(...messages, ...users, ...conversations)
    }
    await say(seen.some((row) => [neighbour.messageId, neighbour.conversationId, neighbour.userId].includes(row.id)))
    await say(seen.some(({ id }) => id === event.userId))
    const ends = []
    for (const text of ["0 ' or true --", '1 a) union select', '--1 x', '-1 x', '-99999999999999 x', '99999999999999 x', '1', ''])
      ends.push(await client.listMessages({ nextToken: encode(text) }).then(() => 'listed', (error) => error.type))
    await say(ends.join())`,
  outcome: 'done',
  replies: ['false', 'true', 'InvalidQuery,InvalidQuery,InvalidQuery,listed,listed,listed,InvalidQuery,listed'],
})
