import { Client, type Signals } from '@botpress/chat'
import { describe, expect, test } from 'vitest'
import { backEnds, openPlatform } from '../../../../support/platform.ts'

describe.each(backEnds)('signals on %s', (backEnd) => {
  test('report joins, leaves and deletions to listeners; a removed user receives nothing more', async () => {
    await using own = await openPlatform({ backEnd, worker: false })
    const { chatUrl } = await own.createBot()
    const [host, guest] = await Promise.all([
      Client.connect({ apiUrl: chatUrl, userId: 'host' }),
      Client.connect({ apiUrl: chatUrl, userId: 'guest' }),
    ])
    const { conversation } = await host.createConversation({ id: 'party' })
    const listener = await host.listenConversation({ id: 'party' })
    const heard: [string, unknown][] = []
    for (const type of ['participant_added', 'participant_removed', 'message_deleted'] as const) {
      listener.on(type, (data: Signals[typeof type]) => heard.push([type, data]))
    }
    await host.addParticipant({ conversationId: 'party', userId: 'guest' })
    const guestListener = await guest.listenConversation({ id: 'party' })
    const guestHeard: unknown[] = []
    guestListener.on('participant_removed', (data) => guestHeard.push(data))
    guestListener.on('message_created', (data) => guestHeard.push(data))
    const ended = new Promise((resolve) => guestListener.on('error', resolve))

    const { message } = await host.createMessage({ conversationId: 'party', payload: { type: 'text', text: 'hi' } })
    await expect.poll(() => guestHeard).toHaveLength(1)
    await host.deleteMessage({ id: message.id })
    await host.removeParticipant({ conversationId: 'party', userId: 'guest' })
    await ended
    await host.createMessage({ conversationId: 'party', payload: { type: 'text', text: 'alone again' } })

    await expect.poll(() => heard).toHaveLength(3)
    expect(heard).toEqual([
      ['participant_added', { conversationId: conversation.id, participantId: 'guest' }],
      ['message_deleted', { id: message.id, conversationId: conversation.id, userId: 'host' }],
      ['participant_removed', { conversationId: conversation.id, participantId: 'guest' }],
    ])
    expect(guestHeard).toHaveLength(1)
    await listener.disconnect()
  })
})
