import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openConversation } from './conversation.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** A bot whose flow `main` has one node with these cards. */
async function botOf(cards: object[], others: object = {}) {
  const flow = { id: 'main', start: 'only', nodes: [{ id: 'only', cards }], ...others }
  return openConversation(platform, await platform.createBot('', { flows: [flow] }))
}

test('a flow asks, waits for the answer, and continues with it', async () => {
  const { say } = await botOf([
    { id: 'ask', type: 'capture', message: 'Your name?', variable: 'user.name' },
    { id: 'greet', type: 'say', message: 'Hello {{user.name}}, {{ workflow.none }}{{ 1 + 1 }}' },
  ])
  expect(await say('hi')).toEqual(['Your name?'])
  expect(await say('Ada')).toEqual(['Hello Ada, 2'])
  expect(await say('hi')).toEqual(['Your name?'])
})
