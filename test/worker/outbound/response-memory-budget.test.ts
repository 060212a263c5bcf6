import { expect, test } from 'vitest'
import { ResponseMemoryBudget } from '../../../worker/outbound/response-memory-budget.ts'
import { megabyte } from '#shared/units.ts'

test('one tenant holds six of the largest answers at once, while others have room', () => {
  const memory = new ResponseMemoryBudget()
  const shares = Array.from({ length: 6 }, () => memory.open('bot_1'))
  for (const share of shares) share.add(10 * megabyte)
  expect(() => memory.open('bot_1').add(10 * megabyte)).toThrow(/try again later/)
  memory.open('bot_2').add(10 * megabyte)
})

test('released memory can be taken again', () => {
  const memory = new ResponseMemoryBudget()
  for (let round = 0; round < 100; round += 1) {
    using share = memory.open('bot_1')
    share.add(40 * megabyte)
    expect(() => share.add(40 * megabyte)).toThrow(/try again later/)
  }
})

test('all tenants together have a limit too', () => {
  const memory = new ResponseMemoryBudget()
  const take = (tenant: number) => memory.open(`bot_${tenant}`).add(60 * megabyte)
  for (const tenant of [1, 2, 3]) take(tenant)
  expect(() => take(4)).toThrow(/try again later/)
})
