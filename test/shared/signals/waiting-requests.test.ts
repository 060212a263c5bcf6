import { expect, test } from 'vitest'
import { openMetrics } from '#shared/telemetry/metrics.ts'
import { WaitingRequests } from '#shared/signals/waiting-requests.ts'

test('an owner with as many waiting requests as allowed is refused, and others are not, until one ends', async () => {
  const requests = new WaitingRequests(2)
  const context = { metrics: openMetrics(false) }
  const figures = async () =>
    (await context.metrics.registry.metrics()).match(/^isobot_tenant_\w+\{for="worker".*/gm)?.toSorted()
  const first = Promise.withResolvers<string>()
  const second = Promise.withResolvers<string>()
  const answers = [
    requests.run(context, 'a', 'requests', () => first.promise),
    requests.run(context, 'a', 'requests', () => second.promise),
  ]
  await expect(requests.run(context, 'a', 'requests of a', async () => 'third')).rejects.toMatchObject({
    type: 'RateLimited',
    message: '2 requests of a wait for their answers: try again in a moment',
    retryAfterSeconds: 1,
  })
  const refusals = 'isobot_tenant_refusals_total{for="worker",reason="too_many"} 1'
  expect(await figures()).toEqual([refusals, 'isobot_tenant_waits{for="worker"} 2'])
  expect(await requests.run(context, 'b', 'requests', async () => 'other')).toBe('other')
  first.reject(new Error('failed'))
  await expect(answers[0]).rejects.toThrow('failed')
  expect(await requests.run(context, 'a', 'requests', async () => 'third')).toBe('third')
  second.resolve('second')
  expect(await answers[1]).toBe('second')
  expect(await figures()).toEqual([refusals, 'isobot_tenant_waits{for="worker"} 0'])
})
