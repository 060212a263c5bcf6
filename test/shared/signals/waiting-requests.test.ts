import { expect, test } from 'vitest'
import { WaitingRequests } from '#shared/signals/waiting-requests.ts'

test('an owner with as many waiting requests as allowed is refused, and others are not, until one ends', async () => {
  const requests = new WaitingRequests(2)
  const first = Promise.withResolvers<string>()
  const second = Promise.withResolvers<string>()
  const answers = [
    requests.run('a', 'requests', () => first.promise),
    requests.run('a', 'requests', () => second.promise),
  ]
  await expect(requests.run('a', 'requests of a', async () => 'third')).rejects.toMatchObject({
    type: 'RateLimited',
    message: '2 requests of a wait for their answers: try again in a moment',
    retryAfterSeconds: 1,
  })
  expect(await requests.run('b', 'requests', async () => 'other')).toBe('other')
  first.reject(new Error('failed'))
  await expect(answers[0]).rejects.toThrow('failed')
  expect(await requests.run('a', 'requests', async () => 'third')).toBe('third')
  second.resolve('second')
  expect(await answers[1]).toBe('second')
})
