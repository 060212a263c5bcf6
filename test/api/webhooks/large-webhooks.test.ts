import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { installCode } from '../../support/install-code.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { sandboxesOf } from '../../support/sandbox-processes.ts'
import { startTarget } from '../../worker/outbound/fixture.ts'
import { megabyte } from '#shared/units.ts'

let platform: Platform
beforeAll(async () => {
  // An isolate has the memory that it has by default; time is for a busy machine, and for hashing without a compiler.
  const environment = { SANDBOX_CPU_MS: '60000', SANDBOX_WALL_MS: '120000', OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' }
  platform = await openPlatform({ environment })
})
afterAll(() => platform[Symbol.asyncDispose]())

const start = 2_166_136_261
const prime = 16_777_619

/** A megabyte that differs from every other one. */
function chunk(index: number): Buffer<ArrayBuffer> {
  const words = new Uint32Array(megabyte / 4)
  let value = index + 1
  for (let at = 0; at < words.length; at += 1) {
    value = (Math.imul(value, 1_664_525) + 1_013_904_223) >>> 0
    words[at] = value
  }
  return Buffer.from(words.buffer)
}

function hashOf(megabytes: number): number {
  let hash = start
  for (let index = 0; index < megabytes; index += 1) {
    for (const word of new Uint32Array(chunk(index).buffer)) hash = Math.imul(hash ^ word, prime)
  }
  return hash >>> 0
}

/** Sends a body that is nowhere whole. */
async function send(url: string, megabytes: number): Promise<Response> {
  const body = Readable.from(
    (function* () {
      for (let index = 0; index < megabytes; index += 1) yield chunk(index)
    })(),
  )
  return fetch(url, { method: 'POST', body: Readable.toWeb(body), duplex: 'half' })
}

/** In a handler: reads the whole body, and hashes it as above wherever it was cut. */
const readAll = `
  let hash = ${start}, bytes = 0, largest = 0, tail = new Uint8Array(0)
  for await (const part of request.stream()) {
    bytes += part.length
    largest = Math.max(largest, part.length)
    const joined = new Uint8Array(tail.length + part.length)
    joined.set(tail)
    joined.set(part, tail.length)
    const words = new Uint32Array(joined.buffer, 0, joined.length >> 2)
    for (let at = 0; at < words.length; at += 1) hash = Math.imul(hash ^ words[at], ${prime})
    tail = joined.slice(words.length * 4)
  }`

async function install(handler: string, definition?: object) {
  const { id: botId } = await platform.createBot()
  const code = `export async function handler({ request }) { ${handler} }`
  return { botId, ...(await installCode(platform, botId, code, definition && { definition })) }
}

/** Installs a bundle of the public SDK, which answers how long the body is that it got. */
async function installSdk() {
  const { id: botId } = await platform.createBot()
  const code = `module.exports.handler = async ({ headers, body }) =>
    headers['x-bp-operation'] === 'webhook_received'
      ? { status: 200, body: String(JSON.parse(body).req.body.length) }
      : { status: 200, body: '{}' }`
  return { botId, ...(await installCode(platform, botId, code)) }
}

const eventsOf = (botId: string) => platform.context.db('events').where({ bot_id: botId, type: 'webhook_received' })
const storedParts = () => platform.context.db('webhook_bodies').count()

describe('a large body', () => {
  test('of 100 MB is read whole by native code, in an isolate of 64 MB', { timeout: 120_000 }, async () => {
    const { webhookUrl } = await install(`${readAll}; return { body: { hash: hash >>> 0, bytes, largest } }`)
    const response = await send(webhookUrl, 100)
    expect(await response.json()).toEqual({ hash: hashOf(100), bytes: 100 * megabyte, largest: 64 * 1024 })
    expect(await storedParts()).toEqual([{ count: '0' }])
  })

  test('says how it can be read when it is looked for as a text', async () => {
    const { webhookUrl } = await install(`
      try { return { body: request.body } } catch (error) { return { body: [error.name, error.message, 'body' in request] } }`)
    expect(await (await send(webhookUrl, 20)).json()).toEqual([
      'RangeError',
      'The request’s body of 20 MB does not fit into an isolate of 64 MB: read it in parts with request.stream()',
      true,
    ])
  })

  test('is read from the database no further than code reads it', { timeout: 60_000 }, async () => {
    const { promise: goOn, resolve } = Promise.withResolvers<void>()
    onTestFinished(() => resolve())
    const target = await startTarget((_request, response) => void goOn.then(() => response.end()))
    onTestFinished(() => target[Symbol.asyncDispose]())
    const { webhookUrl } = await install(
      `const parts = request.stream()
       await parts.next()
       await fetch('${target.url}/')
       let bytes = 64 * 1024
       try { for await (const part of parts) bytes += part.length } catch (error) { return { body: [bytes, error.message] } }`,
      { permissions: { net: ['127.0.0.1'] } },
    )
    const answering = send(webhookUrl, 20)
    await expect.poll(() => target.requests, { timeout: 30_000 }).toEqual(['GET /'])
    // Four parts of 64 KB are asked for ahead: they are in the first megabyte.
    await platform.context.db('webhook_bodies').where('part', '>', 1).delete()
    resolve()
    const [bytes, message] = (await (await answering).json()) as [number, string]
    expect(bytes).toBeLessThan(3 * megabyte)
    expect(message).toBe('The request’s body is no longer available')
  })

  test('is the same for a run that is repeated after a crash', { timeout: 120_000 }, async () => {
    let kills = 0
    const target = await startTarget((_request, response) => {
      kills += 1
      if (kills === 1) for (const pid of sandboxesOf(process.pid)) process.kill(pid, 'SIGKILL')
      response.end()
    })
    onTestFinished(() => target[Symbol.asyncDispose]())
    const { webhookUrl, botId } = await install(
      `let first = 0
       for await (const part of request.stream()) if ((first += part.length) > 5_000_000) break
       await fetch('${target.url}/')
       ${readAll}
       return { body: { hash: hash >>> 0, bytes } }`,
      { permissions: { net: ['127.0.0.1'] } },
    )
    const response = await send(webhookUrl, 20)
    expect(await response.json()).toEqual({ hash: hashOf(20), bytes: 20 * megabyte })
    expect(kills).toBe(2)
    expect(await eventsOf(botId)).toMatchObject([{ status: 'processed', attempt: 2 }])
  })

  test('that is small enough is there as a text and in parts', async () => {
    const { webhookUrl } = await install(`
      let parts = ''
      for await (const part of request.stream()) parts += new TextDecoder().decode(part)
      return { body: [request.body, parts] }`)
    const response = await fetch(webhookUrl, { method: 'POST', body: 'café ☕' })
    expect(await response.json()).toEqual(['café ☕', 'café ☕'])
  })
})

describe('a body for a bundle of the public SDK, which gets it in one piece,', () => {
  const refused = { code: 413, type: 'PayloadTooLarge' }
  const message = 'The body is larger than 16 MB, the maximum of this webhook, whose code receives the body as a whole'

  test('is delivered when its isolate can hold it', { timeout: 60_000 }, async () => {
    const { webhookUrl } = await installSdk()
    const response = await fetch(webhookUrl, { method: 'POST', body: Buffer.alloc(15 * megabyte, 'x') })
    expect([response.status, await response.text()]).toEqual([200, String(15 * megabyte)])
  })

  test.each([
    ['announced', (url: string) => fetch(url, { method: 'POST', body: Buffer.alloc(17 * megabyte, 'x') })],
    ['not announced', (url: string) => send(url, 17)],
  ])('is refused before it is accepted when it is larger: %s', { timeout: 60_000 }, async (_how, sendTo) => {
    const { webhookUrl, botId } = await installSdk()
    const response = await sendTo(webhookUrl)
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ ...refused, message })
    expect(await storedParts()).toEqual([{ count: '0' }])
    expect(await eventsOf(botId)).toEqual([])
  })

  test('may be larger where the bot has more memory', { timeout: 60_000 }, async () => {
    const { webhookUrl, botId } = await installSdk()
    await platform.ask('PUT', `/v1/admin/bots/${botId}`, { limits: { memoryMegabytes: 96 } })
    const response = await fetch(webhookUrl, { method: 'POST', body: Buffer.alloc(17 * megabyte, 'x') })
    expect([response.status, await response.text()]).toEqual([200, String(17 * megabyte)])
  })
})
