import type { RequestListener } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callRun, done, handlerThat } from '../fixture.ts'
import { sandboxOfFile } from '../prelude/compare.ts'
import { openGuardedFetch, type GuardedFetch } from './guarded-fetch.ts'

const sandbox = sandboxOfFile()
let guarded: GuardedFetch
beforeAll(async () => {
  guarded = await openGuardedFetch()
})
afterAll(() => guarded[Symbol.asyncDispose]())

/** The result of a handler with this body. It has `http`, `base` and `ask(options, chunks)`, which resolves to the answer. */
async function told(base: string, body: string): Promise<unknown> {
  const code = `
    const http = require('http')
    const base = '${base}'
    const failed = (request) => new Promise((resolve) => request.on('error', (error) => resolve([error.code, error.message])))
    const ask = (options, chunks = []) => new Promise((resolve, reject) => {
      const request = http.request(base + (options.path ?? '/'), options, async (response) => {
        const parts = []
        for await (const part of response) parts.push(part)
        resolve({ status: response.statusCode, headers: response.headers, text: String(Buffer.concat(parts)) })
      })
      request.on('error', reject)
      for (const chunk of chunks) request.write(chunk)
      request.end()
    })
    const value = await (async () => { ${body} })()
    return { body: JSON.stringify({ value }) }`
  const limits = { fetches: 20, cpuMilliseconds: 10_000, fetchesAtOnce: 4 }
  const outcome = await sandbox().run(callRun(handlerThat(code), {}, { fetch: guarded.fetch, limits }))
  return (JSON.parse((done(outcome).result as { body: string }).body) as { value?: unknown }).value
}

/** Answers with the number of bytes of the body. */
const counter: RequestListener = (request, response) => {
  let bytes = 0
  request.on('data', (chunk: Buffer) => (bytes += chunk.length))
  request.on('end', () => response.end(`${bytes} ${request.headers['content-length'] ?? 'chunked'}`))
}

const kilobytes = (count: number) => `Buffer.alloc(${count} * 1024, 'x')`

describe('the body of a request', () => {
  test('of several megabytes reaches the service, with its length where that is known', async () => {
    const base = await guarded.serve(counter)
    const answers = await told(
      base,
      `const chunks = Array.from({ length: 48 }, () => ${kilobytes(64)})
      const sized = await ask({ method: 'PUT', headers: { 'content-length': 48 * 65536 } }, chunks)
      return [sized.text, (await ask({ method: 'POST' }, chunks)).text]`,
    )
    expect(answers).toEqual(['3145728 3145728', '3145728 chunked'])
  })

  test('of parts of one buffer is these parts, from http and from fetch', async () => {
    const base = await guarded.serve(counter)
    const answers = await told(
      base,
      `const all = ${kilobytes(200)}
      const sent = await ask({ method: 'PUT' }, [all.subarray(0, 70_000), all.subarray(70_000, 90_000), all.subarray(90_000)])
      const fetched = await fetch(base, { method: 'POST', body: all.subarray(1000) })
      return [sent.text, await fetched.text()]`,
    )
    expect(answers).toEqual([expect.stringMatching(/^204800 /), '203800 203800'])
  })

  test('of a GET or HEAD reaches the service, as from Node, also by a library that uses fetch in its place', async () => {
    const seen: string[] = []
    const base = await guarded.serve((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => seen.push(`${request.method} ${text}`))
      request.on('end', () => response.end('found'))
    })
    const answers = await told(
      base,
      `const { status, text } = await ask({ method: 'GET', headers: { 'content-type': 'application/json' } }, ['{"query":1}'])
      await ask({ method: 'HEAD', headers: { 'content-length': 4 } }, ['null'])
      const fetched = await fetch(base, { method: 'GET', body: 'null' })
      return [status, text, fetched.status]`,
    )
    expect(answers).toEqual([200, 'found', 200])
    expect(seen).toEqual(['GET {"query":1}', 'HEAD null', 'GET null'])
  })

  test('is written no faster than the service reads it', async () => {
    let received = 0
    const { promise: asked, resolve: go } = Promise.withResolvers<void>()
    const base = await guarded.serve((request, response) => {
      if (request.url === '/go') {
        go()
        return void response.end()
      }
      request.on('data', (chunk: Buffer) => (received += chunk.length)).on('end', () => response.end(`${received}`))
      request.pause()
      void asked.then(() => request.resume())
    })
    const [before, after] = (await told(
      base,
      `let written = 0
      const chunk = ${kilobytes(64)}
      const request = http.request(base, { method: 'POST' })
      const answer = new Promise((resolve, reject) => request.on('error', reject).on('response', async (response) => {
        let text = ''
        for await (const part of response) text += part
        resolve(text)
      }))
      const write = () => new Promise((resolve) => request.write(chunk, resolve)).then(() => { written += chunk.length })
      const isStuckIn = (promise) => {
        let timer
        const late = new Promise((resolve) => { timer = setTimeout(resolve, 1500, true) })
        return Promise.race([promise.then(() => false), late]).finally(() => clearTimeout(timer))
      }
      let isStuck = false
      while (!isStuck && written < 64 * 1024 * 1024) isStuck = await isStuckIn(write())
      const before = written
      await ask({ path: '/go' })
      request.end()
      return [before, Number(await answer)]`,
    )) as [number, number]
    expect(before).toBeLessThan(32 * 1024 * 1024)
    expect(after).toBeGreaterThanOrEqual(before)
  })

  test('that is larger than 1 MB is not sent to another address', async () => {
    const base = await guarded.serve((request, response) => {
      request.resume().on('end', () => response.writeHead(307, { location: '/other' }).end())
    })
    const answer = await told(
      base,
      `const body = 'x'.repeat(2 * 1024 * 1024)
      return fetch(base, { method: 'POST', body }).catch((error) => error.cause.code + ': ' + error.message)`,
    )
    expect(answer).toMatch(/^invalid: .*request the final URL$/)
  })

  test('that announces more than 100 MB is refused before it is sent', async () => {
    let requests = 0
    const base = await guarded.serve((_request, response) => {
      requests += 1
      response.end()
    })
    const failure = await told(
      base,
      `const request = http.request(base, { method: 'POST', headers: { 'content-length': 101 * 1024 * 1024 } })
      const failure = failed(request)
      request.write(${kilobytes(70)})
      return failure`,
    )
    expect(failure).toEqual(['ECONNRESET', expect.stringContaining('more than 104857600 bytes')])
    expect(requests).toBe(0)
  })
})

describe('a destroyed request ends at the service', () => {
  test('a request whose body is being sent', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<boolean>()
    const base = await guarded.serve((request) => {
      request.resume().once('close', () => resolve(request.complete))
    })
    const failure = await told(
      base,
      `const request = http.request(base, { method: 'POST' })
      const failure = failed(request)
      for (let sent = 0; sent < 40; sent += 1) await new Promise((resolve) => request.write(${kilobytes(64)}, resolve))
      request.destroy()
      return failure`,
    )
    expect(failure).toEqual(['ECONNRESET', 'socket hang up'])
    expect(await ended).toBe(false)
  })

  test('a response that is being read, of which no more is read than is asked for', async () => {
    let written = 0
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const base = await guarded.serve((_request, response) => {
      const chunk = Buffer.alloc(65_536, 'x')
      const write = () => {
        while (!response.destroyed && written < 64 * 1024 * 1024 && response.write(chunk)) written += chunk.length
      }
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': 8 * 1024 * 1024 })
      response.on('drain', write).on('close', resolve)
      write()
    })
    const answer = await told(
      base,
      `const request = http.get(base)
      const response = await new Promise((resolve) => request.on('response', resolve))
      const first = await new Promise((resolve) => response.once('readable', () => resolve(response.read(1000))))
      response.on('error', () => {})
      response.destroy()
      await new Promise((resolve) => request.on('close', resolve))
      return [first.length, response.aborted, response.complete]`,
    )
    expect(answer).toEqual([1000, true, false])
    await ended
    expect(written).toBeLessThan(8 * 1024 * 1024)
  })

  test('a request that takes longer than its timeout, by the listener of that', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const base = await guarded.serve((request) => void request.once('close', resolve))
    const failure = await told(
      base,
      `const request = http.get(base, { timeout: 50 })
      request.on('timeout', () => request.destroy(Object.assign(new Error('too late'), { code: 'LATE' })))
      return failed(request)`,
    )
    expect(failure).toEqual(['LATE', 'too late'])
    await ended
  })
})

test('headers are those that were set, and answers have those of the message as it is read', async () => {
  const base = await guarded.serve((request, response) => {
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.end(JSON.stringify([request.headers['x-list'], request.headers.authorization, request.headers.cookie]))
  })
  const answer = await told(
    base,
    `const { headers, text } = await ask({ auth: 'ada:secret', headers: { 'X-List': ['1', '2'], cookie: ['a=1', 'b=2'] } })
    const request = http.request(base)
    request.setHeader('X-A', 1)
    const refusals = [['bad name', 'x'], ['x', 'a\\nb']].map(([name, value]) => { try { request.setHeader(name, value) } catch (error) { return error.code } })
    return [JSON.parse(text), headers['set-cookie'], 'transfer-encoding' in headers, request.getHeader('x-a'), request.getHeaderNames(), refusals]`,
  )
  expect(answer).toEqual([
    ['1, 2', 'Basic YWRhOnNlY3JldA==', 'a=1; b=2'],
    ['a=1', 'b=2'],
    false,
    1,
    ['host', 'x-a'],
    ['ERR_INVALID_HTTP_TOKEN', 'ERR_INVALID_CHAR'],
  ])
})
