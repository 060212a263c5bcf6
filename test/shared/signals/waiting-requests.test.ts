import { expect, test } from 'vitest'
import { openMetrics } from '#shared/telemetry/metrics.ts'
import { WaitingRequests } from '#shared/signals/waiting-requests.ts'
import type { Database } from '#shared/store/database.ts'

/** Owners that are workspaces are not looked up. */
const inApiOf = (requests: number) => ({
  db: {} as Database,
  config: { overload: { requests } },
  metrics: openMetrics(false),
})

test('an owner with as many waiting requests as allowed is refused, and others are not, until one ends', async () => {
  const requests = new WaitingRequests(2)
  const context = inApiOf(1000)
  const figures = async () =>
    (await context.metrics.registry.metrics())
      .match(/^isobot_tenant_(waits\{for="worker".*|refusals_total.* [1-9]\d*)$/gm)
      ?.toSorted()
  const first = Promise.withResolvers<string>()
  const second = Promise.withResolvers<string>()
  const answers = [
    requests.run(context, { workspaceId: 'a' }, 'requests', () => first.promise),
    requests.run(context, { workspaceId: 'a' }, 'requests', () => second.promise),
  ]
  await expect(requests.run(context, { workspaceId: 'a' }, 'requests of a', async () => 'third')).rejects.toMatchObject(
    {
      type: 'RateLimited',
      message: '2 requests of a wait for their answers: try again in a moment',
      retryAfterSeconds: 1,
    },
  )
  const refusals = 'isobot_tenant_refusals_total{for="worker",reason="too_many"} 1'
  expect(await figures()).toEqual([refusals, 'isobot_tenant_waits{for="worker"} 2'])
  expect(await requests.run(context, { workspaceId: 'b' }, 'requests', async () => 'other')).toBe('other')
  first.reject(new Error('failed'))
  await expect(answers[0]).rejects.toThrow('failed')
  expect(await requests.run(context, { workspaceId: 'a' }, 'requests', async () => 'third')).toBe('third')
  second.resolve('second')
  expect(await answers[1]).toBe('second')
  expect(await figures()).toEqual([refusals, 'isobot_tenant_waits{for="worker"} 0'])
})

test('all owners and kinds of one workspace have half of the requests of an api together', async () => {
  const api = inApiOf(6)
  const [actions, webhooks] = [new WaitingRequests(100), new WaitingRequests(100)]
  const over = Promise.withResolvers<string>()
  const run = (kind: WaitingRequests, workspaceId: string, id: string) =>
    kind.run(api, { workspaceId, id }, 'requests', () => over.promise)
  const answers = [run(actions, 'together', 'one'), run(webhooks, 'together', 'one'), run(actions, 'together', 'two')]
  await expect(run(webhooks, 'together', 'three')).rejects.toMatchObject({
    type: 'RateLimited',
    message: '3 requests of this workspace wait for their answers: try again in a moment',
  })
  answers.push(run(actions, 'another', 'one'))
  over.resolve('answer')
  expect(await Promise.all(answers)).toEqual(Array(4).fill('answer'))
  expect(await run(webhooks, 'together', 'three')).toBe('answer')
})
