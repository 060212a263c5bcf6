import { expect, test } from 'vitest'
import { TooManyWaitingError } from '#shared/errors.ts'
import { TenantSlots } from '#shared/tenant-slots.ts'

const open = (bounds: { max: number; maxOfTenant?: number; maxWaitingOfTenant?: number; maxWaiting?: number }) =>
  new TenantSlots({ maxOfTenant: bounds.max, maxWaitingOfTenant: 10, ...bounds })

test('a tenant has its part of the slots, and the next tenant in order gets one that is free', async () => {
  const slots = open({ max: 4, maxOfTenant: 2 })
  const entered: string[] = []
  const take = async (tenant: string) => {
    const leave = await slots.take(tenant)
    entered.push(tenant)
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

test('tenants take turns, however many calls of one wait, and its calls keep their order', async () => {
  const slots = open({ max: 1 })
  const entered: string[] = []
  const leave = await slots.take('z')
  const calls = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(async (call) => {
    const giveBack = await slots.take(call[0]!)
    entered.push(call)
    giveBack()
  })
  leave()
  await Promise.all(calls)
  expect(entered).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  expect(slots.taken).toBe(0)
})

test('a call that waits ends with its signal, and leaves the queue', async () => {
  const slots = open({ max: 1, maxWaiting: 1 })
  const leave = await slots.take('a')
  const controller = new AbortController()
  const waiting = slots.take('b', { signal: controller.signal })
  controller.abort(new Error('too late'))
  await expect(waiting).rejects.toThrow('too late')
  const next = slots.take('b')
  leave()
  const giveBack = await next
  expect([giveBack(), giveBack()]).toEqual([true, false])
  expect(slots.taken).toBe(0)
  await expect(slots.take('c', { signal: controller.signal })).rejects.toThrow('too late')
})

test('a tenant that has many calls waiting is refused further ones at once, and others are not', async () => {
  const slots = open({ max: 2, maxOfTenant: 1, maxWaitingOfTenant: 2 })
  const controller = new AbortController()
  const { signal } = controller
  const leave = await slots.take('a')
  const waiting = [slots.take('a', { signal }), slots.take('a', { signal })]
  await expect(slots.take('a')).rejects.toThrow(TooManyWaitingError)
  waiting.push(slots.take('a', { signal, isUnbounded: true }))
  const other = await slots.take('b')
  controller.abort(new Error('over'))
  for (const each of waiting) await expect(each).rejects.toThrow('over')
  leave()
  other()
  expect(slots.taken).toBe(0)
})

test('when many calls wait, further ones of all tenants are refused', async () => {
  const slots = open({ max: 1, maxWaiting: 2 })
  const leave = await slots.take('a')
  const waiting = [slots.take('b'), slots.take('c')]
  await expect(slots.take('d')).rejects.toThrow(TooManyWaitingError)
  leave()
  for (const each of waiting) (await each)()
  ;(await slots.take('d'))()
})
