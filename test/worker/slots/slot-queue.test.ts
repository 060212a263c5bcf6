import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RequeueError } from '../../../shared/queue/queue.ts'
import { FairSlots } from '../../../worker/slots/fair-slots.ts'
import { SlotQueue } from '../../../worker/slots/slot-queue.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Has jobs of a bot come, and follows what becomes of them. */
function arrive(room: SlotQueue, botId: string, count: number) {
  const jobs = { slots: [] as Disposable[], requeued: 0 }
  for (let job = 0; job < count; job++) {
    room.enter(botId).then(
      (slot) => jobs.slots.push(slot),
      (error: unknown) => {
        expect(error).toBeInstanceOf(RequeueError)
        jobs.requeued += 1
      },
    )
  }
  return jobs
}

test('jobs beyond their bot’s share wait, and go on as soon as the bot gives a slot back', async () => {
  const room = new SlotQueue(new FairSlots(10), 10)
  const { slots } = arrive(room, 'slow', 8)
  await vi.advanceTimersByTimeAsync(2000)
  expect(slots).toHaveLength(5)
  slots[0]![Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(0)
  expect(slots).toHaveLength(6)
})

test('while slots are free no job is requeued; without free slots, one is requeued at intervals, and others start', async () => {
  const room = new SlotQueue(new FairSlots(10), 10)
  const jobs = arrive(room, 'slow', 9)
  await vi.advanceTimersByTimeAsync(1000)
  expect(jobs.requeued).toBe(0)
  const last = arrive(room, 'slow', 1)
  await vi.advanceTimersByTimeAsync(50)
  expect(jobs.requeued + last.requeued).toBe(1)

  const quiet = arrive(room, 'quiet', 1)
  await vi.advanceTimersByTimeAsync(0)
  expect(quiet.slots).toHaveLength(1)
})

/** Keeps a worker full of jobs of one bot, beside those of others, and counts its requeues. */
async function requeuesInASecond(others: string[]): Promise<number> {
  let requeued = 0
  const room = new SlotQueue(new FairSlots(10), 10, () => {
    requeued += 1
    arrive(room, 'busy', 1)
  })
  for (const other of others) arrive(room, other, 1)
  arrive(room, 'busy', 10 - others.length)
  await vi.advanceTimersByTimeAsync(1000)
  return requeued
}

test('a full worker requeues a job of a bot that is alone less often than one beside other bots', async () => {
  expect(await requeuesInASecond([])).toBeLessThanOrEqual(20)
  expect(await requeuesInASecond(['other'])).toBeGreaterThanOrEqual(90)
})

test('a job for which there is no slot for long goes back to the queue, for another worker to take', async () => {
  const room = new SlotQueue(new FairSlots(4), 4)
  const jobs = arrive(room, 'hanging', 3)
  await vi.advanceTimersByTimeAsync(4000)
  expect(jobs.requeued).toBe(0)
  await vi.advanceTimersByTimeAsync(2000)
  expect(jobs.requeued).toBe(1)
})

test('when the worker stops, all waiting jobs are requeued, and later ones too', async () => {
  const room = new SlotQueue(new FairSlots(4), 4)
  const jobs = arrive(room, 'slow', 3)
  room.close()
  const late = arrive(room, 'other', 1)
  await vi.advanceTimersByTimeAsync(0)
  expect([jobs.requeued, late.requeued]).toEqual([1, 1])
})

test('a slot that becomes free goes to the waiting bot that holds the fewest, however long others wait', async () => {
  const slots = new FairSlots(10)
  // Bots that give back their slots soon may take more than their share.
  for (let job = 0; job < 10; job++) for (const bot of ['busy', 'other', 'late']) slots.take(bot)![Symbol.dispose]()
  const room = new SlotQueue(slots, 20)
  const busy = arrive(room, 'busy', 8)
  const other = arrive(room, 'other', 6)
  const late = arrive(room, 'late', 3)
  await vi.advanceTimersByTimeAsync(0)
  expect([busy, other, late].map((jobs) => jobs.slots.length)).toEqual([5, 4, 1])
  for (const slot of busy.slots.splice(0, 2)) slot[Symbol.dispose]()
  await vi.advanceTimersByTimeAsync(0)
  expect([busy, other, late].map((jobs) => jobs.slots.length)).toEqual([3, 4, 2])
})
