import { expect, test } from 'vitest'
import { CallSlots } from '#shared/llm/call-slots.ts'

const never = new AbortController().signal

test('a bot has half of the slots, and the next bot in order gets one that is free', async () => {
  const slots = new CallSlots(4)
  const entered: string[] = []
  const take = async (botId: string) => {
    const leave = await slots.take(botId, never)
    entered.push(botId)
    return leave
  }
  const first = await Promise.all([take('a'), take('a')])
  const later = [take('a'), take('b'), take('c'), take('d')]
  await Promise.all([later[1], later[2]])
  expect(entered).toEqual(['a', 'a', 'b', 'c'])
  expect(slots.taken).toBe(4)
  first[0]()
  await later[0]
  expect(entered).toEqual(['a', 'a', 'b', 'c', 'a'])
  first[1]()
  await later[3]
  expect(slots.taken).toBe(4)
})

test('a call that waits ends with its signal, and leaves the queue', async () => {
  const slots = new CallSlots(1)
  const leave = await slots.take('a', never)
  const controller = new AbortController()
  const waiting = slots.take('b', controller.signal)
  controller.abort(new Error('too late'))
  await expect(waiting).rejects.toThrow('too late')
  leave()
  expect(slots.taken).toBe(0)
  await expect(slots.take('c', controller.signal)).rejects.toThrow('too late')
})

test('a bot that has many calls waiting is refused further ones at once, and others are not', async () => {
  const slots = new CallSlots(2)
  const controller = new AbortController()
  const leave = await slots.take('a', never)
  const waiting = [slots.take('a', controller.signal), slots.take('a', controller.signal)]
  await expect(slots.take('a', never)).rejects.toThrow('Too many calls of the bot wait')
  const other = await slots.take('b', never)
  controller.abort(new Error('over'))
  for (const each of waiting) await expect(each).rejects.toThrow('over')
  leave()
  other()
  expect(slots.taken).toBe(0)
})
