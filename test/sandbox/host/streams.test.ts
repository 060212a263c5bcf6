import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type {
  ByteSource,
  FetchFailure,
  FetchStream,
  Host,
  HostFetch,
  LogLine,
  Outcome,
} from '#sandbox/protocol/contract.ts'
import {
  bot,
  botThat,
  callRun,
  done,
  handlerThat,
  logged,
  messageRun,
  openTestSandbox,
  sdkBot,
  type TestSandbox,
} from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

/** A body that the test writes, which counts what was asked of it. */
class Written implements ByteSource {
  asked = 0
  isReturned = false
  readonly #items: (Uint8Array | FetchFailure | undefined)[] = []
  #waiting: (() => void) | undefined

  constructor() {
    // Nothing is left waiting, whatever becomes of the test.
    onTestFinished(() => this.write(undefined))
  }

  /** @param item undefined: the end */
  write(item: string | Uint8Array | FetchFailure | undefined): void {
    this.#items.push(typeof item === 'string' ? Buffer.from(item) : item)
    this.#waiting?.()
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array | FetchFailure> {
    return {
      next: async () => {
        this.asked += 1
        while (this.#items.length === 0) await new Promise<void>((resolve) => (this.#waiting = resolve))
        const value = this.#items.shift()
        return value === undefined ? { done: true, value } : { done: false, value }
      },
      return: async () => {
        this.isReturned = true
        return { done: true, value: undefined }
      },
    }
  }
}

const head = { status: 200, statusText: '', url: 'https://a.example/', headers: [] }

/** The log lines of the code, without those of its requests. */
function said(outcome: Outcome): string[] {
  return logged(outcome).filter((line) => !line.startsWith('fetch GET'))
}

function answering(parts: ByteSource): HostFetch {
  return async (): Promise<FetchStream> => ({ ...head, parts })
}

/** A body of these chunks. */
async function* bodyOf(...chunks: (string | Uint8Array | FetchFailure)[]) {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}

/** A body of so many bytes, in chunks of a megabyte that differ. */
async function* largeBody(bytes: number) {
  const chunkBytes = 1_000_000
  for (let at = 0; at < bytes; at += chunkBytes) {
    yield new Uint8Array(Math.min(chunkBytes, bytes - at)).fill(at / chunkBytes)
  }
}

/** An integration whose `handler` does this. */
const reading = (body: string) => bot(`exports.handler = async ({ request, client }) => { ${body} }`)

/** A body of so many chunks that never waits, and counts those that were taken. */
function counted(chunks: number, bytes: number) {
  const counter = { taken: 0, isReturned: false }
  async function* make() {
    try {
      for (; counter.taken < chunks; counter.taken += 1) yield new Uint8Array(bytes).fill(counter.taken % 256)
    } finally {
      counter.isReturned = true
    }
  }
  return { counter, parts: make() }
}

describe('the body of an answer', () => {
  test('is read by code as it arrives', async () => {
    const body = new Written()
    const lines: string[] = []
    const run = messageRun(
      botThat(`
        const response = await fetch('https://a.example/')
        console.log('head ' + response.status)
        const decoder = new TextDecoder()
        for await (const part of response.body) console.log(decoder.decode(part, { stream: true }))
        console.log('end')`),
      { fetch: answering(body) },
    )
    const onLog = ({ message }: LogLine) => void (message.startsWith('fetch GET') || lines.push(message))
    const ended = sandbox.run({ ...run, onLog })
    await expect.poll(() => lines).toEqual(['head 200'])
    body.write('one')
    await expect.poll(() => lines).toEqual(['head 200', 'one'])
    body.write('tw')
    body.write('o é'.slice(0, 2))
    body.write(Buffer.from('é').subarray(0, 1))
    await expect.poll(() => lines.slice(2).join('')).toBe('two ')
    body.write(Buffer.from('é').subarray(1))
    body.write(undefined)
    done(await ended)
    expect(lines.slice(2).join('')).toBe('two éend')
  })

  const whole: [how: string, expression: string][] = [
    ['text()', 'await response.text()'],
    ['json()', 'JSON.stringify(await response.json())'],
    ['arrayBuffer()', 'new TextDecoder().decode(await response.arrayBuffer())'],
    ['blob()', 'await (await response.blob()).text()'],
    ['clone()', 'await response.clone().text() === await response.text() ? await response.copy.text() : "differs"'],
    ['the bytes of a clone', 'new TextDecoder().decode([await response.text(), await response.copy.bytes()][1])'],
  ]

  test.each([
    ...whole.map(([how, expression]): [string, string] => [`${how}, in code without streams`, expression]),
    ...whole.map(([how, expression]): [string, string] => [how, `/* ReadableStream */ ${expression}`]),
    [
      'a reader',
      `await (async () => {
      const reader = response.body.getReader(); let text = ''; const decoder = new TextDecoder()
      for (let read = await reader.read(); !read.done; read = await reader.read()) text += decoder.decode(read.value, { stream: true })
      return text })()`,
    ],
    [
      'pipeThrough()',
      `await (async () => {
      let text = ''; for await (const part of response.body.pipeThrough(new TextDecoderStream())) text += part
      return text })()`,
    ],
  ])('is whole by %s, whatever it was cut into', async (_how, expression) => {
    const text = JSON.stringify({ text: 'añ€𐍈'.repeat(5000) })
    const bytes = Buffer.from(text)
    async function* parts() {
      for (let start = 0; start < bytes.length; start += 997) yield bytes.subarray(start, start + 997)
    }
    const outcome = await sandbox.run(
      messageRun(
        botThat(`
          const response = await fetch('https://a.example/')
          response.copy = response.clone()
          const text = ${expression}
          console.log(text.length, text === JSON.stringify({ text: 'añ€𐍈'.repeat(5000) }))`),
        { fetch: answering(parts()) },
      ),
    )
    done(outcome)
    expect(said(outcome)).toEqual([`${text.length} true`])
  })

  test.each([
    ['a declaration', 'const { headers, body } = await response'],
    ['a parameter', 'const bodyOf = ({ body }) => body; const body = bodyOf(response)'],
  ])('is a stream for code that takes it by destructuring: %s', async (_where, declaration) => {
    const { parts } = counted(3, 1000)
    const code = `const response = await fetch('https://a.example/'); ${declaration}
      let length = 0; for await (const part of body) length += part.length; console.log(length)`
    const outcome = await sandbox.run(messageRun(botThat(code), { fetch: answering(parts) }))
    done(outcome)
    expect(said(outcome)).toEqual(['3000'])
  })

  test('whose chunk is longer than a part arrives whole, before there is more', async () => {
    const written = new Written()
    const size = 100_000
    const code = `
      const reader = (await fetch('https://a.example/')).body.getReader()
      let length = 0
      while (length < ${size}) length += (await reader.read()).value.length
      return { body: String(length) }`
    const running = sandbox.run(callRun(handlerThat(code), {}, { fetch: answering(written) }))
    written.write(Buffer.alloc(size, 'a'))
    expect(done(await running).result).toMatchObject({ body: String(size) })
  })

  test('that is no text is the same bytes', async () => {
    const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 7) % 256)
    async function* parts() {
      yield bytes
    }
    const outcome = await sandbox.run(
      messageRun(
        botThat(`
          const bytes = await (await fetch('https://a.example/')).bytes() /* ReadableStream */
          console.log(bytes.length, bytes.every((byte, index) => byte === (index * 7) % 256))`),
        { fetch: answering(parts()) },
      ),
    )
    expect(said(outcome)).toEqual(['200000 true'])
  })

  test('is delivered in parts unless as many bodies as concurrent requests are unread', async () => {
    const asked: unknown[] = []
    const fetch: HostFetch = async ({ streams }) => {
      asked.push(streams)
      return { ...head, parts: counted(1, 1).parts }
    }
    const { limits } = messageRun(botThat(''))
    const requests = limits.fetchesAtOnce + 1
    const code = `for (let count = 0; count < ${requests}; count += 1) await fetch('https://a.example/')`
    done(await sandbox.run(messageRun(botThat(code), { fetch })))
    expect(asked).toEqual([...Array.from({ length: limits.fetchesAtOnce }, () => true), false])
  })

  test('is not read before code reads, nor further than it has credit for', async () => {
    const { counter, parts } = counted(1000, 64 * 1024)
    const steps: Record<string, number> = { before: 0, one: 4, eleven: 14 }
    const taken: number[] = []
    const host: Host = async ({ path }) => {
      await expect.poll(() => counter.taken).toBeGreaterThanOrEqual(steps[path.split('/').at(-1)!]!)
      taken.push(counter.taken)
      return { status: 200, body: {} }
    }
    const run = messageRun(
      botThat(`
        const response = await fetch('https://a.example/')
        await client.getMessage({ id: 'before' })
        const reader = response.body.getReader()
        await reader.read()
        await client.getMessage({ id: 'one' })
        for (let n = 0; n < 10; n += 1) await reader.read()
        await client.getMessage({ id: 'eleven' })`),
      { fetch: answering(parts), host },
    )
    done(await sandbox.run(run))
    expect(taken[0]).toBe(0)
    // Four parts of credit, and one chunk that was asked for.
    expect(taken[1]).toBeLessThanOrEqual(7)
    expect(taken[2]).toBeLessThanOrEqual(17)
    expect(counter.isReturned).toBe(true)
  })

  test('that fails in the middle throws where it is read, with the reason', async () => {
    const parts = bodyOf('so far', { failure: 'timeout', message: 'No more of the answer came' })
    const outcome = await sandbox.run(
      messageRun(
        botThat(`
          const reader = (await fetch('https://a.example/')).body.getReader()
          console.log(new TextDecoder().decode((await reader.read()).value))
          await reader.read().catch((error) => console.log(error.name, error.message, error.cause.code))`),
        { fetch: answering(parts) },
      ),
    )
    expect(said(outcome)).toEqual(['so far', 'TypeError fetch failed: No more of the answer came timeout'])
    expect(logged(outcome)).toContainEqual(expect.stringMatching(/^fetch GET a\.example\/ failed: timeout, \d+ ms$/))
  })

  test.each([
    ['by cancel()', `await reader.cancel(); console.log('cancelled')`, ['cancelled']],
    [
      'by an AbortController',
      `controller.abort(); await reader.read().catch((error) => console.log(error.name))`,
      ['AbortError'],
    ],
    ['by return', '', []],
  ])('that nobody reads on ends where it comes from: %s', async (_how, end, expected) => {
    const body = new Written()
    body.write('one')
    const signals: AbortSignal[] = []
    const outcome = await sandbox.run(
      messageRun(
        botThat(`
          const controller = new AbortController()
          const { signal } = controller
          const reader = (await fetch('https://a.example/', { signal })).body.getReader()
          await reader.read()
          ${end}`),
        {
          async fetch(_request, signal) {
            signals.push(signal)
            return { ...head, parts: body }
          },
        },
      ),
    )
    done(outcome)
    expect(signals[0]!.aborted).toBe(true)
    expect(body.isReturned).toBe(true)
    expect(said(outcome)).toEqual(expected)
    expect(logged(outcome).join()).toContain('fetch GET a.example/ 200, not read to its end')
  })

  test('ends with the run whose time is up, and with the process that dies', async () => {
    const waiting = `await (await fetch('https://a.example/')).body.getReader().read()`
    const timedOut = new Written()
    const late = await sandbox.run(
      messageRun(botThat(waiting), { fetch: answering(timedOut), limits: { wallMilliseconds: 500 } }),
    )
    expect(late).toMatchObject({ status: 'failed', reason: 'timeout' })
    expect(timedOut.isReturned).toBe(true)
    await using other = await openTestSandbox().then((open) => ({ ...open, [Symbol.asyncDispose]: () => open.close() }))
    const orphaned = new Written()
    const running = other.run(messageRun(botThat(waiting), { fetch: answering(orphaned) }))
    await expect.poll(() => orphaned.asked).toBe(1)
    process.kill(other.pid(), 'SIGKILL')
    expect((await running).status).not.toBe('done')
    expect(orphaned.isReturned).toBe(true)
  })

  test('that the run waits for without anybody awaiting it is read to its end', async () => {
    const { counter, parts } = counted(20, 1000)
    const outcome = await sandbox.run(
      messageRun(
        botThat(`
          const response = await fetch('https://a.example/')
          void (async () => { let bytes = 0; for await (const part of response.body) bytes += part.length; console.log(bytes) })()`),
        { fetch: answering(parts) },
      ),
    )
    expect(logged(outcome)).toContain('20000')
    expect(counter.taken).toBe(20)
  })

  test('crosses whole where so many others stream already', async () => {
    const asked: unknown[] = []
    const fetch: HostFetch = async ({ streams }) => {
      asked.push(streams === true)
      return streams ? { ...head, parts: new Written() } : { ...head, body: 'whole', isBase64: false }
    }
    const outcome = await sandbox.run(
      messageRun(
        botThat(`
          for (let n = 0; n < 2; n += 1) console.log((await fetch('https://a.example/')).body !== null)
          console.log(await (await fetch('https://a.example/')).text())`),
        { fetch },
      ),
    )
    expect(logged(outcome)).toContain('whole')
    expect(asked).toEqual([true, true, false])
  })

  test('in parts that are kept counts as the isolate’s memory', async () => {
    const { parts } = counted(10_000, 64 * 1024)
    const outcome = await sandbox.run(
      messageRun(
        botThat(`const kept = []; for await (const part of (await fetch('https://a.example/')).body) kept.push(part)`),
        { fetch: answering(parts), limits: { cpuMilliseconds: 10_000 } },
      ),
    )
    expect(outcome).toMatchObject({ status: 'failed', reason: 'memory' })
  })

  test('crosses to a bundle of the public SDK as well', async () => {
    const bundle = sdkBot(`exports.handler = async () => {
      let text = ''; const decoder = new TextDecoder()
      for await (const part of (await fetch('https://a.example/')).body) text += decoder.decode(part, { stream: true })
      return { status: 200, body: text } }`)
    const outcome = await sandbox.run(callRun(bundle, {}, { fetch: answering(bodyOf('in ', 'parts')) }))
    expect(done(outcome).result).toMatchObject({ body: 'in parts' })
  })
})

describe('a source of a run', () => {
  const streamed = { field: 'request' }
  const readAll = `const sizes = []; let sum = 0
    for await (const part of request.stream()) { sizes.push(part.length); for (let n = 0; n < part.length; n += 4099) sum += part[n] }`

  test('is read in parts, from its beginning each time', async () => {
    const bundle = reading(`
      const read = async () => { ${readAll}; return [sizes.reduce((all, size) => all + size, 0), sum, Math.max(...sizes)] }
      return { first: await read(), second: await read(), data: JSON.stringify(request) }`)
    const run = callRun(bundle, { argument: { request: { method: 'PUT' } }, streamed })
    const outcome = await sandbox.run({ ...run, sources: { request: () => largeBody(3_000_001) } })
    const { first, second, data } = done(outcome).result as Record<string, unknown>
    expect(first).toEqual([3_000_001, expect.any(Number), 65_536])
    expect(second).toEqual(first)
    expect(data).toBe('{"method":"PUT"}')
  })

  test('that is empty has no parts', async () => {
    const run = callRun(reading(`${readAll}; return { sizes }`), { argument: { request: {} }, streamed })
    expect(done(await sandbox.run({ ...run, sources: { request: () => largeBody(0) } })).result).toEqual({ sizes: [] })
  })

  test('may be larger than the isolate', async () => {
    const run = callRun(reading(`${readAll}; return { bytes: sizes.reduce((all, size) => all + size, 0) }`), {
      argument: { request: {} },
      streamed,
    })
    const outcome = await sandbox.run({ ...run, sources: { request: () => largeBody(150_000_000) } })
    expect(done(outcome).result).toEqual({ bytes: 150_000_000 })
  })

  test('is left when code breaks off, or reads it anew', async () => {
    const readings: { counter: { taken: number; isReturned: boolean } }[] = []
    const source = () => {
      const { counter, parts } = counted(1000, 64 * 1024)
      readings.push({ counter })
      return parts
    }
    const bundle = reading(`
      for await (const part of request.stream()) break
      const left = request.stream(); await left.next()
      for await (const part of request.stream()) break
      await client.getMessage({ id: 'looks' })`)
    const run = callRun(bundle, { argument: { request: {} }, streamed })
    const host = async () => {
      await expect.poll(() => readings.map(({ counter }) => counter.isReturned)).toEqual([true, true, true])
      return { status: 200, body: {} }
    }
    done(await sandbox.run({ ...run, host, sources: { request: source } }))
    for (const { counter } of readings) expect(counter.taken).toBeLessThan(10)
  })

  test('may be read only so often', async () => {
    const bundle = reading(`
      let count = 0
      try { for (;;) { for await (const part of request.stream()) break; count += 1 } } catch (error) { return { count, message: error.message } }`)
    const run = callRun(bundle, { argument: { request: {} }, streamed })
    const outcome = await sandbox.run({ ...run, sources: { request: () => largeBody(10) } })
    expect(done(outcome).result).toEqual({ count: 16, message: 'A body may be read at most 16 times' })
  })

  test('is read as ever by code that has replaced what the kernel is made of', async () => {
    const bundle = reading(`
      globalThis.Uint8Array = class { constructor() { throw new Error('replaced') } }
      for (const name of ['get', 'data', 'failure', 'isOver', 'streams', 'form']) Object.prototype[name] = { message: 'planted' }
      Array.prototype.push = Array.prototype.shift = String.prototype.slice = () => 'replaced'
      Promise.resolve = () => 'replaced'
      let bytes = 0
      for await (const part of request.stream()) bytes += part.length
      return { bytes }`)
    const run = callRun(bundle, { argument: { request: {} }, streamed })
    const outcome = await sandbox.run({ ...run, sources: { request: () => largeBody(1_500_000) } })
    expect(done(outcome).result).toEqual({ bytes: 1_500_000 })
  })

  test('whose whole body was left out says so when that is looked for', async () => {
    const bundle = reading(`
      try { return { body: request.body } } catch (error) { return { name: error.name, message: error.message } }`)
    const argument = { request: {} }
    const run = callRun(bundle, { argument, streamed: { ...streamed, refusal: 'Too large: use request.stream()' } })
    const outcome = await sandbox.run({ ...run, sources: { request: () => largeBody(10) } })
    expect(done(outcome).result).toEqual({ name: 'RangeError', message: 'Too large: use request.stream()' })
  })
})

/** Answers after the first part of the body. */
const refusingEarly: HostFetch = async ({ content }) => {
  for await (const part of content!.parts) if (part.length > 0) break
  return { ...head, status: 413, body: '', isBase64: false }
}

/** Answers with the size of the body. */
const measuring: HostFetch = async ({ content }) => {
  let bytes = 0
  for await (const part of content!.parts) bytes += part.length
  return { ...head, body: `${bytes}`, isBase64: false }
}

describe('the body of a request', () => {
  const partBytes = 64 * 1024
  /** The parts of a body that the code makes, and how many it has made. */
  const counting = `
    let made = 0
    const pull = (controller) => {
      made += 1
      console.log('made ' + made)
      if (made > 50) controller.close(); else controller.enqueue(new Uint8Array(${partBytes}).fill(made))
    }
    const body = new ReadableStream({ pull }, { highWaterMark: 0 })`

  test('is made no faster than the host reads it', async () => {
    const lines: string[] = []
    const { promise: goOn, resolve } = Promise.withResolvers<void>()
    let bytes = 0
    const fetch: HostFetch = async ({ content }) => {
      for await (const part of content!.parts) {
        bytes += part.length
        if (bytes === partBytes) await goOn
      }
      return { ...head, body: '', isBase64: false }
    }
    const code = `if (event.isProbe) return; ${counting}; await fetch('https://a.example/', { method: 'PUT', body })`
    const run = messageRun(botThat(code), { fetch })
    const onLog = ({ message }: LogLine) => void (message.startsWith('made') && lines.push(message))
    const ended = sandbox.run({ ...run, onLog })
    await expect.poll(() => lines.length).toBe(4)
    // A turn of the same isolate: by its end, further parts would have been made.
    done(await sandbox.run(messageRun(run.bundle, { event: { isProbe: true } })))
    expect(lines).toHaveLength(4)
    resolve()
    done(await ended)
    expect(bytes).toBe(50 * partBytes)
  })

  test('is no longer made when the host answers before its end', async () => {
    const outcome = await sandbox.run(
      messageRun(
        botThat(`${counting}
          const { status } = await fetch('https://a.example/', { method: 'PUT', body })
          await new Promise((resolve) => setTimeout(resolve, 20))
          console.log(status + ' ' + (made <= 5))`),
        { fetch: refusingEarly },
      ),
    )
    expect(said(done(outcome)).at(-1)).toBe('413 true')
  })

  test('is given up with the request, or with the run', async () => {
    const failures: string[] = []
    const fetch: HostFetch = async ({ content }) => {
      try {
        for await (const _ of content!.parts);
      } catch (error) {
        failures.push(String(error))
      }
      return { failure: 'aborted', message: 'over' }
    }
    const endless = `const body = new ReadableStream({ pull() { return new Promise(() => {}) } })`
    const aborted = `${endless}
      const signal = AbortSignal.timeout(20)
      await fetch('https://a.example/', { method: 'PUT', body, signal }).catch((error) => console.log(error.name))`
    expect(said(done(await sandbox.run(messageRun(botThat(aborted), { fetch }))))).toContain('TimeoutError')
    await expect.poll(() => failures.length).toBe(1)
    const thrown = `${endless}; void fetch('https://a.example/', { method: 'PUT', body }); throw new Error('over')`
    await sandbox.run(messageRun(botThat(thrown), { fetch }))
    await expect.poll(() => failures).toHaveLength(2)
    expect(failures).toEqual(failures.map(() => 'Error: The body of the request ended early: The request is over'))
  })

  test('is bytes and texts only, even when code changes the built-ins', async () => {
    const outcome = await sandbox.run(
      messageRun(
        botThat(`
          Uint8Array.prototype.slice = () => ({ buffer: { large: 'x'.repeat(1000) } })
          const bytes = new Uint8Array(200_000)
          console.log(await fetch('https://a.example/', { method: 'PUT', body: bytes.fill(1) }).then(() => 'sent', () => 'refused'))
          String.prototype.slice = () => 'y'.repeat(1_000_000)
          console.log(await fetch('https://a.example/', { method: 'PUT', body: 'z'.repeat(200_000) }).then(() => 'sent', () => 'refused'))`),
        { fetch: measuring },
      ),
    )
    expect(outcome.status).toBe('done')
    expect(said(outcome).filter((line) => line === 'sent')).toEqual([])
  })
})
