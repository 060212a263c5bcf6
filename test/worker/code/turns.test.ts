import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { Turns } from '../../../worker/code/turns.ts'

function waiting() {
  const work = Promise.withResolvers<string>()
  return { promise: () => work.promise, resolve: () => work.resolve('done') }
}

describe('turns', () => {
  const began: string[] = []
  let turns: Turns
  beforeEach(() => {
    turns = new Turns()
    began.length = 0
  })
  const take = async (name: string, kind: 'event' | 'action' = 'event') => {
    const turn = await turns.take('agent', kind)
    began.push(name)
    return turn
  }

  test('that are lent to actions are for these alone, and are taken back when no other is in progress', async () => {
    const first = await take('first')
    const second = take('second')
    const action = take('action', 'action')
    await setImmediate()
    expect([began, turns.waiting]).toEqual([['first'], 2])
    const work = waiting()
    const lent = first.lend('actions', work.promise).then((result) => began.push(result))
    const nested = await action
    work.resolve()
    await setImmediate()
    expect(began).toEqual(['first', 'action'])
    nested.end()
    await lent
    expect(began).toEqual(['first', 'action', 'done'])
    first.end()
    ;(await second).end()
    expect(turns.waiting).toBe(0)
  })

  test('that are lent to all are taken in order of arrival, and lenders come before new events', async () => {
    const first = await take('first')
    const [second, third] = [take('second'), take('third')]
    const [one, other] = [waiting(), waiting()]
    const lent = first.lend('all', one.promise).then((result) => began.push(result))
    // A second call of the same event meanwhile.
    const alsoLent = first.lend('all', other.promise)
    const borrower = await second
    one.resolve()
    await setImmediate()
    expect(began).toEqual(['first', 'second'])
    borrower.end()
    await lent
    expect(began).toEqual(['first', 'second', 'done'])
    other.resolve()
    await alsoLent
    first.end()
    ;(await third).end()
  })

  test('that are lent to actions are not taken back before these are over, also where another work ends earlier', async () => {
    const first = await take('first')
    const [model, actions] = [waiting(), waiting()]
    const asked = first.lend('all', model.promise).then(() => began.push('answered'))
    const lent = first.lend('actions', actions.promise)
    const action = await take('action', 'action')
    model.resolve()
    await setImmediate()
    action.end()
    // The work needs a second one, as for further values of a table.
    const another = await take('another', 'action')
    another.end()
    actions.resolve()
    await Promise.all([asked, lent])
    expect(began).toEqual(['first', 'action', 'another', 'answered'])
    first.end()
    ;(await take('second')).end()
  })

  test('that are to be taken back are left to the actions of a work that begins meanwhile', async () => {
    const first = await take('first')
    const second = take('second')
    const [model, actions] = [waiting(), waiting()]
    const asked = first.lend('all', model.promise)
    const borrower = await second
    model.resolve()
    await setImmediate()
    const lent = first.lend('actions', actions.promise)
    const third = take('third')
    borrower.end()
    const action = await take('action', 'action')
    action.end()
    actions.resolve()
    await Promise.all([asked, lent])
    expect(began).toEqual(['first', 'second', 'action'])
    first.end()
    ;(await third).end()
  })

  test('that end while they are lent, or while they are to be taken back, are left to the next event', async () => {
    const first = await take('first')
    const work = waiting()
    const lent = first.lend('actions', work.promise)
    const second = take('second')
    await setImmediate()
    expect(began).toEqual(['first'])
    first.end()
    const borrower = await second
    work.resolve()
    await lent
    const later = waiting()
    const lentAgain = borrower.lend('all', later.promise)
    const third = await take('third')
    later.resolve()
    await setImmediate()
    borrower.end()
    third.end()
    await lentAgain
    ;(await take('fourth')).end()
    expect(began).toEqual(['first', 'second', 'third', 'fourth'])
  })
})
