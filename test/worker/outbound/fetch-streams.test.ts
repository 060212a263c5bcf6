import type { RequestListener, ServerResponse } from 'node:http'
import { createGzip } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createChatUser } from '../../support/chat-client.ts'
import { logOf } from '../../support/install-code.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { startTarget, type Target } from './fixture.ts'
import { megabyte } from '#shared/units.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ environment: { OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' } })
})
afterAll(() => platform[Symbol.asyncDispose]())

const eventStream = { 'content-type': 'text/event-stream' }

/** A server on 127.0.0.1, and the answers that it has under way. */
async function serve(answer: RequestListener): Promise<Target> {
  const target = await startTarget(answer)
  onTestFinished(() => target[Symbol.asyncDispose]())
  return target
}

/** A server that answers with an event stream which the test writes. */
async function serveEvents() {
  const { promise: answered, resolve } = Promise.withResolvers<ServerResponse>()
  const target = await serve((_request, response) => {
    response.writeHead(200, eventStream).flushHeaders()
    resolve(response)
  })
  return { ...target, answered }
}

/** Wakes a bot whose hook this is; it can `fetch` from 127.0.0.1. A text that it `tell`s is seen at once. */
async function wake(body: string, limits: object = {}) {
  const code = `export const hooks = { async afterIncomingMessage({ event, client }) {
    const tell = (text) => client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: String(text) } })
    const decoder = new TextDecoder()
    ${body} } }`
  const { body: made } = await platform.ask('POST', '/v1/admin/bots', {
    code,
    permissions: { net: ['127.0.0.1'] },
    limits,
  })
  const { id } = made.bot
  const chatUser = await createChatUser(made.bot.integrations.chat.webhookUrl)
  await chatUser.send(await chatUser.createConversation(), 'go')
  return {
    async told(): Promise<string[]> {
      const rows = await platform.context.db('messages').where({ bot_id: id, user_id: id }).orderBy('id')
      return rows.map(({ payload }) => (payload as { text: string }).text)
    },
    ended: async () => (await endedEvents(platform, id, 1))[0]!,
    log: () => logOf(platform, id),
  }
}

const readAll = `const reader = response.body.getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) await tell(decoder.decode(read.value, { stream: true }))`

describe('an answer that comes bit by bit', () => {
  test('reaches code as it comes', async () => {
    const server = await serveEvents()
    const { told, ended, log } = await wake(
      `const response = await fetch('${server.url}/'); await tell(response.status); ${readAll}`,
    )
    const response = await server.answered
    await expect.poll(told).toEqual(['200'])
    response.write('data: one\n\n')
    await expect.poll(told).toEqual(['200', 'data: one\n\n'])
    response.write('data: two\n\n')
    await expect.poll(told).toEqual(['200', 'data: one\n\n', 'data: two\n\n'])
    response.end()
    expect((await ended()).status).toBe('processed')
    expect(await log()).toContainEqual(expect.stringMatching(/^info fetch GET 127\.0\.0\.1:\d+\/ 200, \d+ ms$/))
  })

  test('reaches code as it comes although it is compressed', async () => {
    const { promise: answered, resolve } = Promise.withResolvers<ReturnType<typeof createGzip>>()
    const server = await serve((_request, response) => {
      response.writeHead(200, { ...eventStream, 'content-encoding': 'gzip' }).flushHeaders()
      const gzip = createGzip()
      gzip.pipe(response)
      resolve(gzip)
    })
    const { told, ended } = await wake(`const response = await fetch('${server.url}/'); ${readAll}`)
    const gzip = await answered
    for (const word of ['one', 'two']) {
      gzip.write(word)
      gzip.flush()
      await expect.poll(told).toContain(word)
    }
    gzip.end()
    expect((await ended()).status).toBe('processed')
  })

  test('is not asked for compressed where events are wanted', async () => {
    const codings: unknown[] = []
    const server = await serve((request, response) => {
      codings.push(request.headers['accept-encoding'])
      response.end()
    })
    const { ended } = await wake(`await fetch('${server.url}/', { headers: { accept: 'text/event-stream' } })`)
    await ended()
    expect(codings).toEqual(['identity'])
  })

  test('may take longer than one request, as long as it goes on; a pause may not', async () => {
    const server = await serveEvents()
    const { told, ended, log } = await wake(
      `const response = await fetch('${server.url}/')
       await (async () => { ${readAll} })().catch((error) => tell(error.name + ' ' + error.message + ' ' + error.cause.code))`,
      { fetchMilliseconds: 600 },
    )
    const response = await server.answered
    let beats = 0
    const beating = setInterval(() => response.write(`${(beats += 1)} `), 100)
    await expect.poll(() => beats, { timeout: 20_000 }).toBe(15)
    clearInterval(beating)
    await ended()
    const all = await told()
    expect(all.slice(0, -1).join('')).toBe(Array.from({ length: beats }, (_, index) => `${index + 1} `).join(''))
    expect(all.at(-1)).toBe(
      'TypeError fetch failed: No more of the response arrived for 600 ms: raise its timeout timeout',
    )
    expect(await log()).toContainEqual(expect.stringMatching(/^warn fetch GET .* failed: timeout, \d+ ms$/))
  })

  test('is read no faster than code reads', async () => {
    let sent = 0
    let isClosed = false
    const { promise: goOn, resolve: release } = Promise.withResolvers<void>()
    onTestFinished(() => release())
    const server = await serve((request, response) => {
      if (request.url === '/wait') return void goOn.then(() => response.end())
      response.on('close', () => (isClosed = true))
      const write = () => {
        while (!response.destroyed) {
          sent += 64 * 1024
          if (!response.write(Buffer.alloc(64 * 1024, 'x'))) return void response.once('drain', write)
        }
      }
      write()
    })
    const { told, ended } = await wake(`
      const response = await fetch('${server.url}/'); const reader = response.body.getReader()
      await reader.read(); await tell('one part'); await fetch('${server.url}/wait'); await reader.cancel()
      await tell('cancelled')`)
    await expect.poll(told).toEqual(['one part'])
    // This fills the buffers of the connection; then nothing more is sent.
    let before = -1
    await expect.poll(() => before === (before = sent), { interval: 300 }).toBe(true)
    // One that read on would have broken it off at its limit of 10 MB.
    expect(isClosed).toBe(false)
    release()
    await expect.poll(() => isClosed).toBe(true)
    expect((await ended()).status).toBe('processed')
  })

  test('may have 10 MB in all', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, eventStream)
      for (let n = 0; n < 11; n += 1) response.write(Buffer.alloc(megabyte, 'x'))
      response.end()
    })
    const { told } = await wake(`
      let bytes = 0; const response = await fetch('${server.url}/')
      try { for await (const part of response.body) bytes += part.length } catch (error) { await tell(error.cause.code) }
      await tell(bytes > 9e6)`)
    await expect.poll(told, { timeout: 10_000 }).toEqual(['too-large', 'true'])
  })

  test.each([
    [
      'is taken back by an AbortController',
      `controller.abort(); await reader.read().catch((error) => tell(error.name))`,
      ['AbortError'],
    ],
    ['is cancelled', `await reader.cancel(); await tell('cancelled')`, ['cancelled']],
    ['is left when the run ends', ``, []],
  ])('is broken off when it %s', async (_when, end, expected) => {
    const server = await serveEvents()
    const { told, ended } = await wake(`
      const controller = new AbortController()
      const response = await fetch('${server.url}/', { signal: controller.signal })
      const reader = response.body.getReader()
      await reader.read()
      ${end}`)
    const response = await server.answered
    let isClosed = false
    response.on('close', () => (isClosed = true))
    response.write('data: one\n\n')
    await expect.poll(() => isClosed).toBe(true)
    expect((await ended()).status).toBe('processed')
    expect(await told()).toEqual(expected)
  })

  test('that breaks off fails where it is read', async () => {
    const server = await serveEvents()
    const { told, ended } = await wake(`
      const response = await fetch('${server.url}/')
      await (async () => { ${readAll} })().catch((error) => tell(error.name + ' ' + error.cause.code))`)
    const response = await server.answered
    response.write('data: one\n\n')
    await expect.poll(told).toEqual(['data: one\n\n'])
    response.destroy()
    await ended()
    expect(await told()).toEqual(['data: one\n\n', 'TypeError unreachable'])
  })

  test('that is small and soon over crosses whole, and holds no connection', async () => {
    const server = await serve((_request, response) => {
      response.write('{"a":')
      response.end('1}')
    })
    const { told } = await wake(`
      for (let n = 0; n < 20; n += 1) (await fetch('${server.url}/')).body
      await tell(JSON.stringify(await (await fetch('${server.url}/')).json()))`)
    await expect.poll(told).toEqual(['{"a":1}'])
  })
})
