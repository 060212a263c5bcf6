import { expect, test } from 'vitest'
import { commonWords, groupErrors } from '#shared/code/error-groups.ts'
import { processorMilliseconds } from '../../support/processor-time.ts'

test.each([
  ['order 4711 costs 12.50', 'order # costs #'],
  ['no evt_01KAN7QZ3D5W8Y2B4C6E9F0G1H here', 'no # here'],
  ['no 7f9c24e5-2b1d-4c3a-9e8f-5a6b7c8d9e0f here', 'no # here'],
  ['commit 439f047aa is gone', 'commit # is gone'],
  ['ada@example.com is unknown', '# is unknown'],
  ['GET https://api.example.com/orders/1?key=2 failed', 'GET https://api.example.com/# failed'],
  ['late since 2026-11-22T09:30:00.000Z', 'late since #'],
  ['TypeError: order is undefined', 'TypeError: order is undefined'],
  ['facade and decade are words', 'facade and decade are words'],
  ['the first line\nand 17 others', 'the first line'],
])('what "%s" says each time is "%s"', (reason, common) => {
  expect(commonWords(reason)).toBe(common)
})

test('messages of any length and form are parsed in linear time', async () => {
  const parts = ['a', '1', '0.', 'a@', 'a.', '-', 'https://', 'evt_', '2026-11-22T']
  const milliseconds = await processorMilliseconds(() => {
    for (const part of parts) commonWords(part.repeat(50_000))
  })
  expect(milliseconds).toBeLessThan(200)
})

test('a long reason is compared up to its last whole word within 300 characters', () => {
  const words = 'x '.repeat(145)
  expect(commonWords(`${words}7f9c24e5-2b1d-4c3a-9e8f-5a6b7c8d9e0f`)).toBe(words.trim())
})

test('grouping many different failures lets other work have its turn', async () => {
  const rows = Array.from({ length: 500 }, (_, minute) => ({
    ...row('afterTurn', minute),
    failure_reason: String.fromCodePoint(97 + (minute % 26)).repeat(minute),
  }))
  let turns = 0
  const timer = setInterval(() => (turns += 1), 1)
  await groupErrors(rows, new Date(0))
  clearInterval(timer)
  expect(turns).toBeGreaterThan(0)
})

const row = (hook: string, minute: number) => ({
  id: `evt_${minute}`,
  type: 'message_created',
  failure_reason: 'Error: no 1',
  hook,
  version_id: null,
  ended_at: new Date(Date.UTC(2026, 0, 1, 0, minute)),
})

test('the same words of another hook are another error', async () => {
  const rows = [row('beforeIncomingMessage', 3), row('afterIncomingMessage', 2), row('afterIncomingMessage', 1)]
  const groups = await groupErrors(rows, new Date(Date.UTC(2026, 0, 1, 0, 1)))
  expect(groups).toMatchObject([
    { hook: 'afterIncomingMessage', count: 2, eventIds: ['evt_2', 'evt_1'], replayable: 1 },
    { hook: 'beforeIncomingMessage', count: 1 },
  ])
  expect(groups[0]!.firstAt < groups[0]!.lastAt).toBe(true)
  expect(groups[0]!.id).not.toBe(groups[1]!.id)
})
