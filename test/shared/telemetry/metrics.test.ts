import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { createLogger } from '#shared/telemetry/logger.ts'
import { openMetrics } from '#shared/telemetry/metrics.ts'
import { suggestWorkers } from '#shared/monitoring/queue-stats.ts'
import { scopeRequests } from '../../../api/request-scope.ts'

test('a metric that cannot be read is left out, and the others are served', async () => {
  const { registry, gauge } = openMetrics(false)
  let isThere = true
  const read = async () => {
    if (!isThere) throw new Error('The database is away')
    return [[{}, 3]] satisfies [object, number][]
  }
  gauge({ name: 'waiting', help: 'What waits', read })
  gauge({
    name: 'by_state',
    help: 'By state',
    labels: ['state'],
    read: async () => [[{ state: 'used' }, (await read())[0]![1]]],
  })
  gauge({ name: 'here', help: 'What is here', read: () => [[{}, 1]] })
  expect(await registry.metrics()).toMatch(/^isobot_waiting 3$/m)
  expect(await registry.metrics()).toMatch(/^isobot_by_state{state="used"} 3$/m)
  isThere = false
  const text = await registry.metrics()
  expect(text).not.toMatch(/^isobot_(waiting|by_state)[ {]/m)
  expect(text).toMatch(/^isobot_here 1$/m)
})

test('statuses that code makes up add no series of their own', async () => {
  const metrics = openMetrics(false)
  const handle = scopeRequests({ metrics, log: createLogger('api', 'silent') }, ({ url = '' }, response) => {
    response.writeHead(Number(url.slice(1))).end()
  })
  const server = createServer(handle).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    for (const status of [404, 290, 291, 292]) await fetch(`http://127.0.0.1:${port}/${status}`)
    const counts = async () => (await metrics.registry.metrics()).match(/(?<=_count\{.*status=)"\w+"\} \d+/g)
    await expect.poll(counts).toEqual(['"404"} 1', '"2xx"} 3'])
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('figures are of one context: two in a process do not mix', async () => {
  const [one, other] = [openMetrics(false), openMetrics(false)]
  one.events.inc({ outcome: 'failed' })
  expect(await one.registry.metrics()).toContain('isobot_events_total{outcome="failed"} 1')
  expect(await other.registry.metrics()).toContain('isobot_events_total{outcome="failed"} 0')
})

test.each([
  ['none where there is none, but for the one that sees to what is due', { workers: 0, slots: 0 }, 1],
  ['one that has nothing to do', { workers: 1 }, 1],
  ['fewer of those that have little to do', { workers: 4, slotsInUse: 100 }, 2],
  ['as many when seven tenths are in use', { workers: 4, slotsInUse: 280 }, 4],
  ['more when nearly all slots are in use', { workers: 4, slotsInUse: 400 }, 6],
  ['more when events wait too long, in proportion', { workers: 4, oldestWaitingSeconds: 6 }, 5],
  ['at most twice as many at a time', { workers: 4, oldestWaitingSeconds: 600, slotsInUse: 400 }, 8],
  ['none more when they wait as long as they may', { workers: 4, oldestWaitingSeconds: 5, slotsInUse: 280 }, 4],
])('of workers it suggests %s', (_what, state, suggested) => {
  const { workers } = state
  expect(suggestWorkers({ slots: workers * 100, slotsInUse: 0, oldestWaitingSeconds: 0, ...state })).toBe(suggested)
})
