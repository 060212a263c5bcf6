import { describe, expect, test } from 'vitest'
import type { FetchConnection, Host, HostFetch } from '#sandbox/protocol/contract.ts'
import { botThat, done, logged, messageRun, ok, patientHost } from './fixture.ts'
import { startCompromised, type CompromisedProcess } from './host/compromised-process.ts'
import { watchTurns } from './child/longest-turn.ts'

/** Upper bound of the worker's processor time for one frame of a hostile process: 10 MB, read and refused. */
const maxMilliseconds = 200

/** A run for which the compromised process is to do something. */
const someRun = (options?: Parameters<typeof messageRun>[1]) => messageRun(botThat(''), options)

describe('a sandbox process that something has taken over is killed, and the run fails as crashed,', () => {
  test.each([
    ['when it floods the log', `flood(() => send(log(run, 'x'.repeat(500))))`, 'it floods the worker'],
    ['when it floods the log with large lines', `flood(() => send(log(run, 'x'.repeat(1e5))))`, 'it floods the worker'],
    [
      'when it floods the platform with calls',
      `flood((n) => send({ type: 'call', run, call: String(n), request: '{"method":"GET","path":"/"}' }))`,
      'it floods the worker',
    ],
    [
      'when it floods the platform with what is no call',
      `flood((n) => send({ type: 'call', run, call: String(n), request: '[' }))`,
      'it floods the worker',
    ],
    [
      'when it floods the world with requests',
      `flood((n) => send({ type: 'fetch', run, fetch: String(n), request: '{}' }))`,
      'it floods the worker',
    ],
    [
      'when it takes back requests that it never made',
      `flood((n) => send({ type: 'abortFetch', run, fetch: String(n) }))`,
      'it floods the worker',
    ],
    [
      'when it asks for parts of streams that there are not',
      `flood((n) => send({ type: 'pull', run, stream: 'fetch/' + n, form: 'text', parts: 1 }))`,
      'it floods the worker',
    ],
    [
      'when it sends parts of bodies that nobody has asked for',
      `const body = { method: 'PUT', url: 'https://a.example/', headers: {}, redirect: 'follow', content: {} }
       send({ type: 'fetch', run, fetch: '1', request: JSON.stringify(body) })
       flood(() => send({ type: 'bodyPart', run, fetch: '1', state: 'part', data: 'x', isBase64: 0 }))`,
      'it floods the worker',
    ],
    [
      'when it takes back streams that there are not',
      `flood((n) => send({ type: 'cancel', run, stream: 'fetch/' + n }))`,
      'it floods the worker',
    ],
    ['when it asks for code again and again', `flood(() => send({ type: 'code', bundle }))`, 'it floods the worker'],
    [
      'when it asks for an environment again and again',
      `flood(() => send({ type: 'environment', bundle }))`,
      'it floods the worker',
    ],
    [
      'when it says again and again that a turn is long',
      `flood(() => send({ type: 'long', run }))`,
      'it floods the worker',
    ],
    [
      'when it floods the worker with heartbeats',
      `flood(() => send({ type: 'pong', rss: 1, warm: 1, spare: 1, cold: 1 }))`,
      'it floods the worker',
    ],
    ['when it is ready again and again', `flood(() => send({ type: 'ready' }))`, 'it floods the worker'],
    ['when it floods runs that are none', `flood(() => send(log('another run', 'x')))`, 'it floods the worker'],
    [
      'when it announces a frame that is too large',
      `const header = Buffer.alloc(4); header.writeUInt32LE(64 * 1024 * 1024); write(header)`,
      'it sent a frame of 67108864 bytes',
    ],
    ['when it says what is not JSON', `write(framed('{"type":'))`, 'it sent a malformed frame'],
    ['when it says JSON that is no frame', `write(framed('"type"'))`, 'it sent a frame of an unknown type'],
    ['when it makes up a frame', `send({ type: 'start' })`, 'it sent a frame of an unknown type'],
    ['when it names a property of all objects', `send({ type: 'toString' })`, 'it sent a frame of an unknown type'],
    ['when a field is missing', `send({ type: 'done', run })`, 'it sent a frame of an unknown type'],
    ['when a field is of another kind', `send({ ...done(run), cpu: '1' })`, 'it sent a frame of an unknown type'],
    ['when a field is an object', `send({ ...done(run), result: {} })`, 'it sent a malformed frame'],
    ['when it nests arrays', `write(framed('['.repeat(5e6) + ']'.repeat(5e6)))`, 'it sent a malformed frame'],
    [
      'when it nests arrays in a frame',
      `write(framed('{"type":"pong","rss":1,"more":' + '['.repeat(5e6) + ']'.repeat(5e6) + '}'))`,
      'it sent a malformed frame',
    ],
    [
      'when its frame has very many fields',
      `write(framed('{"type":"pong","rss":1' + Array.from({ length: 1e5 }, (_, n) => ',"k' + n + '":1').join('') + '}'))`,
      'it sent a malformed frame',
    ],
    [
      'when it ends in the middle of a frame',
      `write(framed(JSON.stringify(done(run))).subarray(0, -1), () => process.abort())`,
      /^it ended with /,
    ],
  ])('%s', async (_when, body, expected) => {
    const compromised = await startCompromised(`on.run = ({ run, bundle }) => { ${body} }`)
    const longestTurn = watchTurns()
    const run = someRun()
    const outcome = await compromised.run(run)
    const { reason, exit } = await compromised.died
    expect(longestTurn()).toBeLessThan(maxMilliseconds)
    expect(outcome).toMatchObject({ status: 'failed', reason: 'crashed', error: { name: 'CrashError' } })
    expect(reason).toMatch(expected)
    expect(exit).toEqual({ suspects: [{ botId: run.bundle.botId, codeId: run.bundle.id }], fromOutside: false })
  })

  test('all of its runs are interrupted when the cause is not known', async () => {
    const compromised = await startCompromised(
      `const runs = []; on.run = ({ run }) => runs.push(run) > 1 && send({ type: 'secret' })`,
    )
    const runs = [someRun(), someRun()]
    const outcomes = await Promise.all(runs.map((run) => compromised.run(run)))
    expect(outcomes.map(({ status }) => status)).toEqual(['interrupted', 'interrupted'])
    const { exit } = await compromised.died
    expect(exit?.suspects.map(({ botId }) => botId)).toEqual(runs.map(({ bundle }) => bundle.botId))
  })
})

test('a sandbox process that does not read has what it asked for pile up over there, and is dead in the middle of a frame', async () => {
  const compromised = await startCompromised(`
    on.run = ({ run }) => {
      channel.pause()
      let calls = 0
      const calling = setInterval(() => {
        calls += 1
        if (calls <= 50) return send({ type: 'call', run, call: String(calls), request: '{"method":"GET","path":"/"}' })
        clearInterval(calling)
        write(framed(JSON.stringify(done(run))).subarray(0, -1))
      }, 50)
    }`)
  let calls = 0
  const host = async () => {
    calls += 1
    return ok('x'.repeat(4e6))
  }
  const outcome = await compromised.run(someRun({ host, limits: { hostCalls: 1000, hostCallsAtOnce: 4 } }))
  expect(outcome.status).toBe('interrupted')
  expect((await compromised.died).reason).toBe('it missed its heartbeats')
  expect(calls).toBeGreaterThan(1)
  expect(calls).toBeLessThan(15)
})

/** A `fetch` that opens connections, whose server neither sends nor ends. */
function connecting() {
  const connections: { isClosed: boolean }[] = []
  const figures = { secured: 0 }
  const open = (): FetchConnection => {
    const state = { isClosed: false }
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    connections.push(state)
    const close = () => {
      state.isClosed = true
      resolve()
    }
    return {
      status: 200,
      statusText: 'Connected',
      headers: [],
      url: 'tcp://a.example:1',
      parts: {
        [Symbol.asyncIterator]: () => ({ next: () => closed.then(() => ({ done: true, value: undefined })) }),
      },
      close,
      async secure() {
        figures.secured += 1
        close()
        return open()
      },
    }
  }
  const fetch: HostFetch = async ({ method }) =>
    method === 'CONNECT' ? open() : { failure: 'forbidden', message: 'This is no connection' }
  return { fetch, connections, figures }
}

/** Sends these frames of the run, and ends it. */
function saying(frames: string, end = 'send(done(run))'): Promise<CompromisedProcess> {
  return startCompromised(`on.run = ({ run }) => { ${frames}; ${end} }`)
}

describe('the frames of a hostile sandbox process about a run', () => {
  test('is logged as far as its limits go', async () => {
    const compromised = await saying(`for (let n = 0; n < 300; n += 1) send(log(run, 'line ' + n))`)
    expect(logged(await compromised.run(someRun({ limits: { logLines: 100 } })))).toHaveLength(101)
    const lengthy = await saying(`for (let n = 0; n < 50; n += 1) send(log(run, 'x'.repeat(1000)))`)
    expect(logged(await lengthy.run(someRun({ limits: { logCharacters: 5000 } })))).toHaveLength(5)
  })

  test('is logged with a time that is one, and a level that there is', async () => {
    const compromised = await saying(`
      send({ ...log(run, 'when?'), timestamp: 'yesterday' })
      send({ ...log(run, 'ever?'), timestamp: '2026-99-99T99:99:99.999Z' })
      send({ ...log(run, 'level?'), level: 'secret' })`)
    const { logs } = await compromised.run(someRun())
    expect(logs.map(({ message }) => message)).toEqual(['when?', 'ever?', 'level?'])
    for (const { timestamp, level } of logs) {
      expect(Math.abs(Date.now() - Date.parse(timestamp))).toBeLessThan(60_000)
      expect(level).toBe('info')
    }
  })

  test('is no more calls of the platform than it has, and no larger ones', async () => {
    const compromised = await startCompromised(`
      let replies = 0
      on.run = ({ run }) => {
        send({ type: 'call', run, call: 'too large', request: JSON.stringify({ method: 'GET', path: 'x'.repeat(2e5) }) })
        send({ type: 'call', run, call: 'x'.repeat(100), request: '{"method":"GET","path":"/"}' })
        for (let n = 0; n < 20; n += 1) send({ type: 'call', run, call: String(n), request: '{"method":"GET","path":"/"}' })
      }
      on.reply = ({ run }) => (replies += 1) === 5 && send(done(run))`)
    const calls: string[] = []
    const host: Host = async ({ path }) => {
      calls.push(path)
      return ok({})
    }
    done(await compromised.run(someRun({ host, limits: { hostCalls: 5, hostCallsAtOnce: 20 } })))
    expect(calls).toEqual(['/', '/', '/', '/', '/'])
  })

  test('is no more calls and requests than the run and those that it called have together', async () => {
    const compromised = await startCompromised(`
      const runs = []
      on.run = ({ run }) => {
        if (runs.push(run) < 2) return
        for (const run of runs) for (let n = 0; n < 4; n += 1) {
          send({ type: 'call', run, call: String(n), request: '{"method":"GET","path":"/"}' })
          send({ type: 'fetch', run, fetch: String(n), request: '{"method":"GET","url":"http://x.example","redirect":"follow"}' })
        }
        on.ping = () => runs.forEach((run) => send(done(run)))
      }`)
    const asked: string[] = []
    const options = { limits: { hostCalls: 5, fetches: 6, fetchesAtOnce: 9 } }
    const run = someRun({
      ...options,
      host: async () => (asked.push('call'), ok({})),
      fetch: async () => (asked.push('fetch'), { failure: 'forbidden', message: '' }),
    })
    await compromised.runWithin(run, { ...run, id: 'nested' })
    expect(asked.toSorted().join(' ')).toBe(`${'call '.repeat(5)}${'fetch '.repeat(6)}`.trim())
  })

  test('opens no more connections than the run and those that it called have together', async () => {
    const compromised = await startCompromised(`
      const runs = []
      const answers = []
      const request = JSON.stringify({ method: 'CONNECT', url: 'tcp://a.example:1', headers: {}, redirect: 'error', content: {} })
      on.run = ({ run }) => {
        if (runs.push(run) < 2) return
        for (const run of runs) for (let n = 0; n < 6; n += 1) send({ type: 'fetch', run, fetch: String(n), request })
      }
      on.fetched = ({ answer }) => {
        const { streams, message } = JSON.parse(answer)
        if (answers.push(streams ? 'open' : message.slice(0, 46)) < 12) return
        send(log(runs[0], answers.sort().join()))
        runs.forEach((run) => send(done(run)))
      }`)
    const { fetch, connections } = connecting()
    const run = someRun({ fetch, limits: { fetches: 50, fetchesAtOnce: 9, connectionsAtOnce: 3 } })
    const [outcome] = await compromised.runWithin(run, { ...run, id: 'nested' })
    const refused = Array.from({ length: 9 }, () => 'An event may have at most 3 open connections (')
    expect(logged(outcome!)).toContain([...refused, 'open', 'open', 'open'].join())
    expect(connections.map(({ isClosed }) => isClosed)).toEqual([true, true, true])
  })

  test('gives no name to two requests, of which one would outlast the run', async () => {
    const compromised = await startCompromised(`
      const request = JSON.stringify({ method: 'CONNECT', url: 'tcp://a.example:1', headers: {}, redirect: 'error', content: {} })
      let count = 0
      on.run = ({ run }) => send({ type: 'fetch', run, fetch: 'same', request })
      on.fetched = ({ run }) => {
        if (count++ === 0) for (const fetch of ['same', 'other']) send({ type: 'fetch', run, fetch, request })
        else send(done(run))
      }`)
    const { fetch, connections } = connecting()
    done(await compromised.run(someRun({ fetch, limits: { fetches: 50, fetchesAtOnce: 9, connectionsAtOnce: 9 } })))
    expect(connections.map(({ isClosed }) => isClosed)).toEqual([true, true])
  })

  test.each([
    ['one of its own, again and again', 'own', 1],
    ['one that another run has opened', 'foreign', 0],
    ['a request and no connection', 'plain', 0],
    ['none', 'none', 0],
  ])('continues only an open connection of its run with TLS, and once: %s', async (_which, secures, expected) => {
    const compromised = await startCompromised(`
      const runs = []
      const connect = { method: 'CONNECT', url: 'tcp://a.example:1', headers: {}, redirect: 'error', content: {} }
      const begin = (run, fetch, request) => send({ type: 'fetch', run, fetch, request: JSON.stringify(request) })
      on.run = ({ run }) => {
        if (runs.push(run) < 2) return
        begin(runs[0], 'plain', { method: 'GET', url: 'https://a.example/', headers: {}, redirect: 'follow' })
        begin(runs[0], 'own', connect)
        begin(runs[1], 'foreign', connect)
      }
      let answers = 0
      on.fetched = () => {
        answers += 1
        if (answers === 3) for (let n = 1; n < 4; n += 1) begin(runs[0], String(n), { ...connect, url: 'tls://a.example:1', secures: '${secures}' })
        if (answers === 6) runs.forEach((run) => send(done(run)))
      }`)
    const { fetch, connections, figures } = connecting()
    const options = { fetches: 50, fetchesAtOnce: 9, connectionsAtOnce: 9 }
    const run = someRun({ fetch, limits: options })
    await compromised.runWithin(run, { ...run, id: 'nested' })
    expect(figures.secured).toBe(expected)
    expect(connections.map(({ isClosed }) => isClosed)).toEqual(Array.from({ length: 2 + expected }, () => true))
  })

  test('is no request that it has aborted before the worker came to it', async () => {
    const compromised = await startCompromised(`
      on.run = ({ run }) => {
        channel.pause()
        // In the time until the request, the worker comes to wait for room for its replies.
        for (let n = 0; n < 3; n += 1) send({ type: 'call', run, call: String(n), request: '{"method":"GET","path":"/"}' })
        setTimeout(() => {
          send({ type: 'fetch', run, fetch: '1', request: '{"method":"GET","url":"http://x.example","redirect":"follow"}' })
          send({ type: 'abortFetch', run, fetch: '1' })
          setTimeout(() => channel.resume(), 500)
        }, 1000)
      }
      let replies = 0
      on.reply = ({ run }) => (replies += 1) === 3 && (on.fetched = () => send(done(run)))`)
    let requests = 0
    const run = someRun({
      host: async () => ok('x'.repeat(7_900_000)),
      fetch: async () => ((requests += 1), { failure: 'forbidden', message: '' }),
    })
    done(await compromised.run(run))
    expect(requests).toBe(0)
  })

  test('is no call of the platform that cannot be parsed', async () => {
    const compromised = await startCompromised(`
      const requests = ['', 'null', '[]', '{}', '{"method":"GET"}', '{"method":1,"path":"/"}', '['.repeat(5000)]
      const replies = []
      on.run = ({ run }) => requests.forEach((request, n) => send({ type: 'call', run, call: String(n), request }))
      on.reply = ({ run, reply }) => {
        if (replies.push(JSON.parse(reply).status) < requests.length) return
        send(log(run, replies.join()))
        send(done(run))
      }`)
    const { host, calls } = patientHost()
    expect(logged(await compromised.run(someRun({ host })))).toEqual(['400,400,400,400,400,400,400'])
    expect(calls).toEqual([])
  })

  test('is ignored when the run has ended', async () => {
    const compromised = await startCompromised(`
      let former
      on.run = ({ run }) => {
        if (former) {
          send({ type: 'call', run: former, call: 'c', request: '{"method":"GET","path":"/"}' })
          send({ type: 'fetch', run: former, fetch: 'f', request: '{"method":"GET","url":"http://example.com","redirect":"follow"}' })
          send(log(former, 'late'))
          send({ ...done(former), result: '"forged"' })
        }
        former = run
        send(done(run))
      }`)
    const { host, calls } = patientHost()
    const first = await compromised.run(someRun({ host }))
    done(await compromised.run(someRun()))
    expect(done(first)).toMatchObject({ result: {}, logs: [] })
    expect(calls).toEqual([])
  })

  test.each([
    ['no JSON', `result: '{'`, 'The result is not JSON'],
    ['too large', `result: JSON.stringify('x'.repeat(2e5))`, 'The result is too large'],
    ['nested too deep', `result: '['.repeat(2e4) + ']'.repeat(2e4)`, 'JSON may be nested at most 1000 levels deep'],
    ['a state that is too large', `state: JSON.stringify({ x: 'x'.repeat(3e6) })`, 'The result is too large'],
  ])('is no result when it is %s', async (_what, field, message) => {
    const compromised = await saying('', `send({ ...done(run), ${field} })`)
    expect(await compromised.run(someRun())).toMatchObject({ status: 'failed', reason: 'result', error: { message } })
  })

  test.each([
    ['-1e999', 0],
    ['1e999', 0],
    ['1e300', someRun().limits.wallMilliseconds],
  ])('is processor time that can be, when it is %s', async (cpu, taken) => {
    const compromised = await saying('', `write(framed(JSON.stringify(done(run)).replace('"cpu":0', '"cpu":${cpu}')))`)
    expect(done(await compromised.run(someRun())).cpuMilliseconds).toBe(taken)
  })

  test('is a failure of a kind that there is, in texts that can be kept', async () => {
    const texts = ['name', 'message', 'stack', 'hook', 'hooks'].map((field) => `${field}: 'x'.repeat(1e6)`).join()
    const compromised = await saying('', `send({ type: 'failed', run, reason: '__proto__', cpu: 0, ${texts} })`)
    const outcome = await compromised.run(someRun())
    expect(outcome).toMatchObject({ status: 'failed', reason: 'crashed' })
    expect(JSON.stringify(outcome).length).toBeLessThan(30_000)
  })

  test('was at work in what can be, when it can have been', async () => {
    const hooks = [1, ['first', 0.5], ['late', 1e12], ['early', -5], ['none'], 'none', [7, 1], ['__proto__', null]]
    const heard = await saying('', `send({ ...done(run), hooks: ${JSON.stringify(JSON.stringify(hooks))} })`)
    const outcome = done(await heard.run(someRun()))
    expect(outcome.hooks.map(({ name }) => name)).toEqual(['first', 'late', 'early'])
    for (const { start } of outcome.hooks) expect(start >= 0 && start < 60_000).toBe(true)
    for (const text of ['{', '{}', '7', '[]', '[[1]]', `["x", ["a", 1]]`]) {
      const compromised = await saying('', `send({ ...done(run), hooks: ${JSON.stringify(text)} })`)
      expect(done(await compromised.run(someRun())).hooks).toEqual([])
    }
  })

  test.each([
    ['empty', ''],
    ['cut off', '{'],
    ['null', 'null'],
    ['a number', '7'],
    ['a text', '"x"'],
    ['nested too deep', '['.repeat(5000)],
  ])('is no declaration, and no harm, when it is %s', async (_what, result) => {
    const compromised = await startCompromised(
      `on.inspect = ({ run }) => send({ ...done(run), result: ${JSON.stringify(result)} })`,
    )
    expect(await compromised.inspect()).toMatchObject({ status: 'refused', reason: 'result' })
  })

  test('gets an inspection nothing that only a run may ask for', async () => {
    const compromised = await startCompromised(`
      const answers = []
      for (const type of ['reply', 'fetched', 'part', 'interrupt']) on[type] = () => answers.push(type)
      on.inspect = ({ run }) => {
        send({ type: 'call', run, call: '1', request: '{"method":"GET","path":"/"}' })
        send({ type: 'fetch', run, fetch: '1', request: '{"method":"GET","url":"http://x.example","redirect":"follow"}' })
        send({ type: 'abortFetch', run, fetch: '1' })
        send({ type: 'pull', run, stream: 'request/1', form: 'text', parts: 1 })
        send({ type: 'cancel', run, stream: 'request/1' })
        send(log(run, 'x'))
        on.ping = () => send({ ...done(run), result: JSON.stringify({ hooks: answers }) })
      }`)
    expect(await compromised.inspect()).toMatchObject({ status: 'accepted', hooks: [] })
  })

  test('does not get it the code of others, nor its own twice', async () => {
    const compromised = await startCompromised(`
      const given = []
      on.code = ({ bundle, source }) => given.push(bundle + ' ' + source.code)
      on.run = ({ run, bundle }) => {
        for (const asked of [bundle, bundle, 'another bundle']) send({ type: 'code', bundle: asked })
        on.ping = () => { send(log(run, given.join())); send(done(run)) }
      }`)
    const run = someRun()
    expect(logged(await compromised.run(run))).toEqual([`${run.bundle.id} ${run.bundle.code}`])
  })

  test('does not get it the secrets of others, nor its own twice', async () => {
    const compromised = await startCompromised(`
      const given = []
      on.environment = on.code = ({ bundle, environment, source }) => given.push(bundle + ' ' + (environment ?? source.environment).KEY)
      on.run = ({ run, bundle }) => {
        for (const asked of [bundle, bundle, 'another bundle']) send({ type: 'environment', bundle: asked })
        send({ type: 'code', bundle })
        on.ping = () => { send(log(run, given.join())); send(done(run)) }
      }`)
    const run = someRun()
    const bundle = { ...run.bundle, environment: { KEY: 'one' } }
    expect(logged(await compromised.run({ ...run, bundle }))).toEqual([`${bundle.id} one`])
  })
})

/** A run with a source that never ends, and counts its readings and the chunks that were taken. */
function endless() {
  const counter = { readings: 0, taken: 0, inFlight: 0 }
  async function* source() {
    counter.readings += 1
    counter.inFlight += 1
    try {
      for (;;) {
        counter.taken += 1
        yield new Uint8Array(64 * 1024)
      }
    } finally {
      counter.inFlight -= 1
    }
  }
  return { counter, run: { ...someRun(), sources: { request: source } } }
}

const pull = (stream: string, parts = '4', run = 'run') =>
  `send({ type: 'pull', run: ${run}, stream: ${JSON.stringify(stream)}, form: 'bytes', parts: ${parts} })`

describe('the requests of a hostile sandbox process for a stream', () => {
  test('without end kills it, and the reading ends', async () => {
    const compromised = await startCompromised(
      `on.run = ({ run }) => { channel.pause(); flood(() => ${pull('request/1', '1')}) }`,
    )
    const { counter, run } = endless()
    expect(await compromised.run(run)).toMatchObject({ status: 'failed', reason: 'crashed' })
    expect((await compromised.died).reason).toBe('it floods the worker')
    expect(counter.readings).toBe(1)
    expect(counter.inFlight).toBe(0)
  })

  test('and does not read piles up over there', async () => {
    const compromised = await startCompromised(`
      on.run = ({ run }) => {
        channel.pause()
        setInterval(() => { for (let n = 0; n < 20; n += 1) ${pull('request/1', '1')} }, 25)
      }`)
    const { counter, run } = endless()
    expect((await compromised.run(run)).status).not.toBe('done')
    expect((await compromised.died).reason).toBe('it missed its heartbeats')
    // 16 MB, in base64, and what the pipe takes.
    expect(counter.taken).toBeGreaterThan(100)
    expect(counter.taken).toBeLessThan(250)
  })

  test.each([
    ['more than there is credit for', pull('request/1', '5')],
    ['very much', pull('request/1', '1e300')],
    ['less than nothing', pull('request/1', '-1')],
    ['a part of a part', pull('request/1', '1.5')],
    ['a source that there is not', pull('response/1')],
    ['a property of all objects', pull('__proto__/1') + pull('constructor/1') + pull('toString/1')],
    ['a reading of no number', pull('request') + pull('request/') + pull('request/x') + pull('request/99999')],
    ['a request that it never made', pull('fetch/1')],
    ['a run that there is not', pull('request/1', '4', `'another run'`)],
  ])('gives it nothing when it is %s', async (_what, frames) => {
    const compromised = await startCompromised(`
      let parts = 0
      on.part = () => (parts += 1)
      on.run = ({ run }) => { ${frames.replaceAll(')send', '); send')}; on.ping = () => { send(log(run, String(parts))); send(done(run)) } }`)
    const { counter, run } = endless()
    expect(logged(await compromised.run(run))).toEqual(['0'])
    expect(counter).toEqual({ readings: 0, taken: 0, inFlight: 0 })
  })

  test('is read at most as often as the limit, one reading at a time, and not after the run has ended', async () => {
    const compromised = await startCompromised(`
      let parts = 0
      let former
      on.part = () => (parts += 1)
      on.run = ({ run }) => {
        if (former) { const run = former; ${pull('request/3')} }
        for (let n = 1; n < 200; n += 1) send({ type: 'pull', run, stream: 'request/' + n, form: 'bytes', parts: 1 })
        former = run
        on.ping = () => send(done(run))
      }`)
    const first = endless()
    done(await compromised.run(first.run))
    expect(first.counter.readings).toBeLessThanOrEqual(16)
    expect(first.counter.inFlight).toBe(0)
    const { taken } = first.counter
    done(await compromised.run(endless().run))
    expect(first.counter.taken).toBe(taken)
  })

  test('of another run in another process is ignored', async () => {
    const { counter, run } = endless()
    const victim = await startCompromised(`on.run = () => {}`)
    void victim.run(run)
    const compromised = await startCompromised(`
      on.run = ({ run: own }) => { const run = ${JSON.stringify(run.id)}; ${pull('request/1')}; on.ping = () => send(done(own)) }`)
    done(await compromised.run(someRun()))
    expect(counter.taken).toBe(0)
  })
})

test('the output of a hostile sandbox process does not fill the operator’s log', async () => {
  const compromised = await startCompromised(`
    on.run = ({ run }) => { for (let n = 0; n < 100; n += 1) process.stderr.write('x'.repeat(10_000)); send(done(run)) }`)
  done(await compromised.run(someRun()))
  await expect.poll(() => compromised.complaints.join('').length).toBeGreaterThan(0)
  expect(compromised.complaints.join('').length).toBeLessThan(30_000)
})

test('frames that come byte by byte are frames', async () => {
  const compromised = await startCompromised(`
    on.run = ({ run }) => {
      const bytes = Buffer.concat([framed(JSON.stringify(log(run, 'ä €'))), framed(JSON.stringify(done(run)))])
      const step = (n) => n < bytes.length && write(bytes.subarray(n, n + 1), () => step(n + 1))
      step(0)
    }`)
  expect(logged(await compromised.run(someRun()))).toEqual(['ä €'])
})
