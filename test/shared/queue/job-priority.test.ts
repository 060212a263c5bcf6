import { expect, test } from 'vitest'
import { JobPriority } from '#shared/queue/job-priority.ts'

let now = 0
const openOrder = () => new JobPriority(() => now)

test('a bot with a message a second waits in front', () => {
  const order = openOrder()
  for (let second = 0; second < 60; second++) {
    expect(order.next('quiet')).toBe(0)
    now += 1000
  }
})

test('the more wake-ups a bot has, the further back they wait, but one in each second', () => {
  const order = openOrder()
  const priorities = Array.from({ length: 10_000 }, () => {
    now += 0.5
    return order.next('flooding')
  })
  expect(priorities.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 0))
  expect(priorities[100]).toBe(4)
  expect(priorities.at(-1)).toBe(10)
  expect(priorities.slice(10).filter((priority) => priority === 0)).toHaveLength(4)
  expect(order.next('quiet')).toBe(0)
})

test('a bot that has flooded the queue is in front again soon after', () => {
  const order = openOrder()
  for (let count = 0; count < 10_000; count++) order.next('flooding')
  now += 5000
  order.next('flooding')
  expect(order.next('flooding')).toBeGreaterThan(0)
  now += 20_000
  order.next('flooding')
  expect(order.next('flooding')).toBe(0)
})
