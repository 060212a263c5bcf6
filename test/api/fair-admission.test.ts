import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { openFairAdmission } from '../../api/fair-admission.ts'
import { ApiError } from '#shared/errors.ts'
import { openMetrics } from '#shared/telemetry/metrics.ts'
import { createChatUser } from '../support/chat-client.ts'
import { openPlatform, type Answer } from '../support/platform.ts'

let parts = new AsyncDisposableStack()
afterEach(async () => {
  await parts.disposeAsync()
  parts = new AsyncDisposableStack()
})

/** A server that admits each request for the bot in its path, and answers when it is told to. */
async function open({ isBusy }: { isBusy: boolean }) {
  const admission = openFairAdmission({ metrics: openMetrics(false) }, () => isBusy)
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  let answersAtOnce = true
  const admitted = new Map<string, ServerResponse[]>()
  const server = createServer(async (incoming, response) => {
    const bot = incoming.url!.slice(1)
    try {
      await admission.admit(bot, response)
    } catch (error) {
      const { status, retryAfterSeconds } = ApiError.from(error)
      return response.writeHead(status, { 'retry-after': String(retryAfterSeconds) }).end()
    }
    if (answersAtOnce) return response.end()
    admitted.set(bot, [...(admitted.get(bot) ?? []), response])
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  parts.defer(() => {
    agent.destroy()
    server.closeAllConnections()
    server.close()
  })

  async function ask(bot: string): Promise<IncomingMessage> {
    const asking = request({ host: '127.0.0.1', port, path: `/${bot}`, agent })
    asking.end()
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    response.resume()
    return response
  }

  return {
    ask,
    /** Holds the answers from now on. */
    hold: () => void (answersAtOnce = false),
    countAdmitted: (bot: string) => admitted.get(bot)?.length ?? 0,
    /** Answers what is held, and what follows at once. */
    release() {
      answersAtOnce = true
      for (const response of [...admitted.values()].flat()) response.end()
    },
    async ofBots(bots: string[]) {
      for (const bot of bots) expect((await ask(bot)).statusCode).toBe(200)
    },
  }
}

const soon = { timeout: 10_000, interval: 5 }

const times = (count: number, bot: string) => Array.from({ length: count }, () => bot)

test('requests of a bot beyond its share continue in groups, and those of other bots at once', async () => {
  const server = await open({ isBusy: true })
  await server.ofBots(['quiet', ...times(150, 'busy')])
  server.hold()
  const asked = times(50, 'busy').map((bot) => server.ask(bot))
  await expect.poll(() => server.countAdmitted('busy'), soon).toBeGreaterThan(0)
  asked.push(server.ask('quiet'))
  await expect.poll(() => server.countAdmitted('quiet'), soon).toBe(1)
  expect(server.countAdmitted('busy')).toBeLessThan(50)
  server.release()
  for (const { statusCode } of await Promise.all(asked)) expect(statusCode).toBe(200)
})

test('a group whose answers take long does not keep the next one', async () => {
  const server = await open({ isBusy: true })
  await server.ofBots(['quiet', ...times(150, 'busy')])
  server.hold()
  const asked = times(20, 'busy').map((bot) => server.ask(bot))
  await expect.poll(() => server.countAdmitted('busy'), soon).toBe(20)
  server.release()
  await Promise.all(asked)
})

test('of more requests than may wait, the others are refused with the time after which to try again', async () => {
  const server = await open({ isBusy: true })
  await server.ofBots(['quiet', ...times(150, 'busy')])
  server.hold()
  const asked = times(600, 'busy').map((bot) => server.ask(bot))
  const refused: IncomingMessage[] = []
  const collect = async (asking: Promise<IncomingMessage>) => {
    const answer = await asking
    if (answer.statusCode === 429) refused.push(answer)
  }
  for (const asking of asked) void collect(asking)
  await expect.poll(() => refused.length, soon).toBeGreaterThan(50)
  server.release()
  const accepted = (await Promise.all(asked)).filter(({ statusCode }) => statusCode === 200)
  expect(accepted.length + refused.length).toBe(600)
  expect(accepted.length).toBeGreaterThan(100)
  expect(new Set(refused.map(({ headers }) => headers['retry-after']))).toEqual(new Set(['1']))
})

test.each([
  { of: 'a lone bot', isBusy: true, before: times(150, 'busy') },
  { of: 'two bots that send as much', isBusy: true, before: [...times(150, 'busy'), ...times(150, 'other')] },
  { of: 'a bot beside others in a process with little to do', isBusy: false, before: ['quiet', ...times(150, 'busy')] },
])('all requests of $of continue at once', async ({ isBusy, before }) => {
  const server = await open({ isBusy })
  await server.ofBots(before)
  server.hold()
  const asked = times(50, 'busy').map((bot) => server.ask(bot))
  await expect.poll(() => server.countAdmitted('busy'), soon).toBe(50)
  server.release()
  await Promise.all(asked)
})

test('each message of a flood is stored or refused, and another bot is served meanwhile', async () => {
  const platform = parts.use(await openPlatform({ worker: false, environment: { CHAT_RATE_LIMIT_USER: '0' } }))
  const [flooded, quiet] = await Promise.all([platform.createBot(), platform.createBot()])
  const users = await Promise.all([flooded, quiet].map(({ chatUrl }) => createChatUser(chatUrl)))
  const [busy, other] = await Promise.all(
    users.map(async (user) => ({ user, conversationId: await user.createConversation() })),
  )
  let stored = 0
  const refused: Answer[] = []
  for (let round = 0; round < 10 && refused.length === 0; round++) {
    const flood = times(300, 'flood').map((text) => busy!.user.send(busy!.conversationId, text))
    expect(await other!.user.send(other!.conversationId, 'hello')).toMatchObject({ status: 201 })
    for (const answer of await Promise.all(flood)) {
      if (answer.status === 201) stored += 1
      else refused.push(answer)
    }
  }
  expect(refused.length).toBeGreaterThan(0)
  const figures = await platform.context.metrics.registry.metrics()
  expect(figures).toContain(`isobot_tenant_refusals_total{for="admission",reason="too_many"} ${refused.length}\n`)
  expect(figures).toContain('isobot_tenant_waits{for="admission"} 0\n')
  for (const { status, body, headers } of refused) {
    expect({ status, body }).toMatchObject({ status: 429, body: { type: 'RateLimited', code: 429 } })
    expect(headers.get('retry-after')).toBe('1')
  }
  const [row] = await platform.context.db('messages').where({ bot_id: flooded.id }).count()
  expect(Number(row!['count'])).toBe(stored)
})
