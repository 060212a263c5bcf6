import { expect, test } from 'vitest'
import { FairSlots, inspectionsOf } from '../../../worker/slots/fair-slots.ts'

/** Takes slots for a bot until it has its share, or so many. */
function takeAll(slots: FairSlots, botId: string, most = Infinity): Disposable[] {
  const taken: Disposable[] = []
  while (taken.length < most) {
    const slot = slots.take(botId)
    if (!slot) break
    taken.push(slot)
  }
  return taken
}

test('one bot has half of the slots, two have a third each, and some are left for a third one', () => {
  const slots = new FairSlots(100)
  const first = takeAll(slots, 'one')
  expect(first).toHaveLength(50)
  expect(takeAll(slots, 'two')).toHaveLength(25)
  for (const slot of first.slice(0, 20)) slot[Symbol.dispose]()
  expect(takeAll(slots, 'two')).toHaveLength(10)
  expect(takeAll(slots, 'three').length).toBeGreaterThanOrEqual(10)
})

test.each([1, 2, 3])('each of as many bots as there are slots has one: %i', (count) => {
  const slots = new FairSlots(count)
  for (let bot = 0; bot < count; bot++) expect(slots.take(`bot ${bot}`)).toBeDefined()
})

test('a bot whose jobs end within a second has all slots but one until another comes, and half from then on', () => {
  let now = 0
  const slots = new FairSlots(10, () => now)
  const work = (botId: string) => {
    now += 5
    slots.take(botId)![Symbol.dispose]()
  }
  for (let job = 0; job < 200; job++) work('quick')
  const taken = takeAll(slots, 'quick', 10)
  expect(taken).toHaveLength(9)
  for (const slot of taken) slot[Symbol.dispose]()

  work('another')
  expect(takeAll(slots, 'quick', 10)).toHaveLength(5)
})

test('inspections have their share, and a bot is alone beside those that are over', () => {
  const slots = new FairSlots(10)
  const inspecting = takeAll(slots, inspectionsOf('wkspace_1'))
  expect(inspecting).toHaveLength(5)
  for (const slot of inspecting) slot[Symbol.dispose]()
  for (let job = 0; job < 200; job++) slots.take('quick')![Symbol.dispose]()
  expect(takeAll(slots, 'quick', 10)).toHaveLength(9)
})

test('a bot whose jobs take longer has its share although it is alone', () => {
  let now = 0
  const slots = new FairSlots(10, () => now)
  const taken = takeAll(slots, 'slow')
  now += 3000
  for (const slot of taken) slot[Symbol.dispose]()
  now += 3000
  expect(takeAll(slots, 'slow')).toHaveLength(5)
})

test('a bot that gives back many slots in a second has all of them but one, however long it held each', () => {
  let now = 0
  const slots = new FairSlots(100, () => now)
  let held = takeAll(slots, 'steady')
  expect(held).toHaveLength(50)
  // Each is held for two seconds.
  for (let second = 0; second < 4; second++) {
    for (const slot of held.splice(0, 25)) {
      now += 40
      slot[Symbol.dispose]()
      held.push(slots.take('steady')!)
    }
  }
  held = [...held, ...takeAll(slots, 'steady', 50)]
  expect(held).toHaveLength(99)
  expect(slots.take('newcomer')).toBeDefined()
})

test('bots that give back their slots soon share all but one, which is for the next bot', () => {
  const slots = new FairSlots(20, () => 0)
  const bots = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const bot of [...bots, ...bots]) for (const job of takeAll(slots, bot, 3)) job[Symbol.dispose]()
  for (let round = 0; round < 5; round++) for (const bot of bots) slots.take(bot)
  expect(slots.inUse).toBe(19)
  expect(slots.take('newcomer')).toBeDefined()
})

test('of two busy bots that give back their slots soon, none takes more than half', () => {
  const slots = new FairSlots(20, () => 0)
  for (const bot of ['one', 'two', 'one', 'two']) for (const job of takeAll(slots, bot)) job[Symbol.dispose]()
  expect(takeAll(slots, 'one')).toHaveLength(10)
  expect(takeAll(slots, 'two')).toHaveLength(9)
})
