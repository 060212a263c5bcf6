import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HostCall, HostReply, Json } from '#sandbox/protocol/contract.ts'
import {
  botThat,
  callRun,
  done,
  handlerThat,
  logged,
  messageRun,
  ok,
  openTestSandbox,
  platformUrl,
  type TestSandbox,
} from '../fixture.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await openTestSandbox()
})
afterAll(() => sandbox.close())

/** The result of a function with this body in the isolate, through JSON. */
async function inside(body: string, reply?: (call: HostCall) => HostReply): Promise<Json> {
  const code = `const value = await (async () => { ${body} })(); return { body: JSON.stringify({ value }) }`
  const host = reply && { host: async (call: HostCall) => reply(call) }
  const { result } = done(await sandbox.run(callRun(handlerThat(code), {}, host)))
  return (JSON.parse((result as { body: string }).body) as { value: Json }).value
}

/** The call that comes of a `fetch` with these arguments. */
async function asked(expression: string): Promise<HostCall | undefined> {
  let seen: HostCall | undefined
  await inside(`await fetch(${expression}); return true`, (call) => {
    seen = call
    return ok({})
  })
  return seen
}

describe('fetch of the platform', () => {
  test.each<[string, string, HostCall]>([
    ['a path', `'${platformUrl}/v1/chat/users/a%2Fb'`, { method: 'GET', path: '/v1/chat/users/a%2Fb' }],
    [
      'a query whose names may repeat',
      `new URL('${platformUrl}/v1/x?a=1&tags.b=x%20y&list=1&list=2')`,
      { method: 'GET', path: '/v1/x', query: { a: '1', 'tags.b': 'x y', list: ['1', '2'] } },
    ],
    [
      'a body',
      `'${platformUrl}/v1/x', { method: 'put', body: JSON.stringify({ a: 'é' }), headers: { 'x-bot-id': 'b', authorization: 'Bearer x' } }`,
      { method: 'PUT', path: '/v1/x', body: { a: 'é' } },
    ],
    [
      'a body of bytes',
      `new Request('${platformUrl}/v1/x', { method: 'POST', body: new TextEncoder().encode('[1]') })`,
      { method: 'POST', path: '/v1/x', body: [1] },
    ],
    [
      'a body that is no JSON',
      `'${platformUrl}/v1/x', { method: 'POST', body: new URLSearchParams({ a: '1' }) }`,
      { method: 'POST', path: '/v1/x', body: 'a=1' },
    ],
  ])('is a call of the host, with %s and no headers', async (_what, expression, call) => {
    expect(await asked(expression)).toEqual(call)
  })

  test('is one in native code too, whose environment names no address', async () => {
    let seen: HostCall | undefined
    const host = async (call: HostCall) => {
      seen = call
      return ok({})
    }
    const code = `await fetch('${platformUrl}/v2/x', { method: 'POST', body: '{}', headers: { authorization: 'Bearer any' } })`
    done(await sandbox.run(messageRun(botThat(code), { host })))
    expect(seen).toEqual({ method: 'POST', path: '/v2/x', body: {} })
  })

  test('resolves to the host’s answer, with any status', async () => {
    const body = `const response = await fetch('${platformUrl}/v1'); return [response.ok, response.status, response.headers.get('content-type'), await response.json()]`
    const refusal = { status: 429, body: { code: 429, message: 'Ünable' } }
    expect(await inside(body, () => refusal)).toEqual([false, 429, 'application/json', refusal.body])
    expect(await inside(body, () => ok([]))).toEqual([true, 200, 'application/json', []])
  })

  test('is given up when its signal is aborted, before or while the host thinks', async () => {
    const body = `
      const before = await fetch('${platformUrl}/v1', { signal: AbortSignal.abort('early') }).catch((reason) => reason)
      const controller = new AbortController()
      const asked = fetch('${platformUrl}/v1', { signal: controller.signal }).catch((reason) => reason)
      setTimeout(() => controller.abort('late'), 5)
      return [before, await asked]`
    const calls: string[] = []
    const code = `return { body: JSON.stringify(await (async () => { ${body} })()) }`
    const answer = Promise.withResolvers<HostReply>()
    const run = sandbox.run(
      callRun(
        handlerThat(code),
        {},
        {
          host: (call) => {
            calls.push(call.path)
            setTimeout(() => answer.resolve(ok({})), 100)
            return answer.promise
          },
        },
      ),
    )
    expect(done(await run).result).toMatchObject({ body: '["early","late"]' })
    expect(calls).toEqual(['/v1'])
  })

  test('counts as calls of the host', async () => {
    const body = `for (let n = 0; n < 3; n += 1) await fetch('${platformUrl}/v1')`
    expect(await sandbox.run(callRun(handlerThat(body), {}, { limits: { hostCalls: 2 } }))).toMatchObject({
      status: 'failed',
      reason: 'hostCalls',
    })
  })

  test('is waited for at the end of a run', async () => {
    const calls: HostCall[] = []
    const run = callRun(
      handlerThat(`void fetch('${platformUrl}/1').then(() => fetch('${platformUrl}/2'))`),
      {},
      {
        host: async (call) => {
          calls.push(call)
          return ok({})
        },
      },
    )
    expect((await sandbox.run(run)).status).toBe('done')
    expect(calls.map((call) => call.path)).toEqual(['/1', '/2'])
  })

  const form = `const form = new FormData(); form.set('file', new File(['abc'], 'a.txt', { type: 'text/plain' }))`
  const late = `const late = new ReadableStream({
    async start(controller) {
      await new Promise((resolve) => setTimeout(resolve, 30))
      controller.enqueue(new TextEncoder().encode('{"a":1}'))
      controller.close()
    },
  })`
  const file = { name: 'a.txt', type: 'text/plain', base64: 'YWJj' }

  test.each<[string, string, string, Json]>([
    ['a form', form, 'form', { file }],
    ['a body that comes late', late, 'late', { a: 1 }],
  ])('is made before the end of a run that does not wait for it, with %s', async (_what, begin, body, expected) => {
    const calls: (Json | undefined)[] = []
    const host = async (call: HostCall) => {
      calls.push(call.body)
      return ok({})
    }
    const code = `${begin}; void fetch('${platformUrl}/v1/x', { method: 'POST', body: ${body}, duplex: 'half' })`
    done(await sandbox.run(callRun(handlerThat(code), {}, { host })))
    done(await sandbox.run(messageRun(botThat(code), { host })))
    expect(calls).toEqual([expected, expected])
  })

  test('holds its run no longer than the limit of the run, with a body that never ends', async () => {
    const code = `void fetch('${platformUrl}/v1/x', { method: 'POST', body: new ReadableStream({}), duplex: 'half' })`
    const run = messageRun(botThat(code), { limits: { wallMilliseconds: 300 } })
    expect(await sandbox.run(run)).toMatchObject({ status: 'failed', reason: 'timeout' })
  })

  test('leaves its run free where its body cannot be read', async () => {
    const body = `new ReadableStream({ start(controller) { controller.error(new Error('no body')) } })`
    const code = `await fetch('${platformUrl}/v1/x', { method: 'POST', body: ${body}, duplex: 'half' }).catch((error) => logger.info(error.message))`
    const outcome = await sandbox.run(messageRun(botThat(code)))
    done(outcome)
    expect(logged(outcome)).toEqual(['no body'])
  })
})
