import { describe, expect, test } from 'vitest'
import { previewOf, toChatPayload, toContent } from '#shared/models/payload.ts'

describe('a bloc', () => {
  const sent = {
    type: 'bloc',
    items: [
      { type: 'text', text: 'a' },
      { type: 'image', imageUrl: 'b', alt: 'kept' },
    ],
  } as const
  const stored = {
    type: 'bloc',
    payload: {
      items: [
        { type: 'text', payload: { text: 'a' } },
        { type: 'image', payload: { imageUrl: 'b', alt: 'kept' } },
      ],
    },
  }

  test('is stored with items that are messages of their own, and comes back flat', () => {
    expect(toContent({ ...sent, items: [...sent.items] })).toEqual(stored)
    expect(toChatPayload(stored)).toEqual(sent)
  })
})

test('a carousel that a bot sends has cards, which bots need not say', () => {
  const card = { title: 't', actions: [] }
  expect(toChatPayload({ type: 'carousel', payload: { items: [card] } })).toEqual({
    type: 'carousel',
    items: [{ ...card, type: 'card' }],
  })
})

test.each([
  ['text', { text: 'hello' }, 'hello'],
  ['choice', { text: 'which?', options: [] }, 'which?'],
  ['card', { title: 'A card', actions: [] }, 'A card'],
  ['file', { fileUrl: 'https://f' }, 'file: https://f'],
  ['file', { fileUrl: 'https://f', title: 'The file' }, 'The file'],
  ['custom', {}, 'custom'],
])('the preview of a %s message with %j is %j', (type, payload, preview) => {
  expect(previewOf({ type, payload })).toBe(preview)
})
