import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HostFetch } from '#sandbox/protocol/contract.ts'
import { openContext } from '#shared/context.ts'
import { prepareFetch } from '../../../worker/outbound/fetch.ts'
import { openOutbound } from '../../../worker/outbound/open-outbound.ts'
import { createDatabase } from '../../support/databases.ts'
import { configWith, log } from '../../worker/outbound/fixture.ts'
import { callRun, done, sdkBot } from '../fixture.ts'
import { sandboxOfFile } from '../prelude/compare.ts'
import { answer, streamBytes } from './transports/server.ts'
import { uploadBytes } from './transports/contract.ts'

const clients = [
  'axios-0.27',
  'axios-1.4',
  'axios-1.6',
  'axios-current',
  'axios-fetch',
  'node-fetch-2',
  'node-fetch-3',
  'superagent',
  'stripe',
]

/** Of clients that lack some. */
const countOfCases: Record<string, number> = { stripe: 7, 'axios-fetch': 10 }

/** What each case results in, of every client that has it. */
const results = {
  get: { hello: 'world', given: 'yes' },
  post: { type: 'application/json', body: { text: 'Grüße' } },
  auth: { user: 'ada:secret' },
  redirect: { hello: 'world' },
  gzip: { hello: 'compressed' },
  refusal: { status: 422, data: { detail: 'no' } },
  timeout: expect.stringMatching(/timeout|abort/i),
  multipart: { isForm: true, hasFile: true },
  download: streamBytes,
  upload: uploadBytes,
  refused: expect.stringMatching(/^ECONNREFUSED$|^ERR_NETWORK$/),
}

const sandbox = sandboxOfFile()
const codes = new Map<string, string>()
let server: Server
let fetch: HostFetch
let base: string
let closed: string
const opened = new AsyncDisposableStack()

beforeAll(async () => {
  const entryPoints = clients.map((name) => new URL(`transports/${name}.ts`, import.meta.url).pathname)
  const usual = { bundle: true, write: false, outdir: '/', tsconfigRaw: {} } as const
  // As the public command line bundles.
  const { outputFiles } = await build({
    ...usual,
    entryPoints,
    platform: 'node',
    format: 'cjs',
    target: 'es2020',
    minify: true,
    keepNames: true,
  })
  for (const [index, name] of clients.entries()) codes.set(name, outputFiles[index]!.text)

  server = createServer((request, response) => void answer(request, response))
  base = await listen(server)
  const empty = createServer()
  closed = await listen(empty)
  empty.close()

  const database = await createDatabase()
  const environment = { DATABASE_URL: database.url, SANDBOX_NET: '127.0.0.1' }
  const config = configWith(['127.0.0.1'], environment)
  const context = openContext(config, log)
  const outbound = openOutbound(config, log)
  opened.defer(async () => {
    server.closeAllConnections()
    server.close()
    await outbound.close()
    await context[Symbol.asyncDispose]()
    await database.drop()
  })
  const limits = { fetchMilliseconds: 10_000, fetchMegabytes: 10 }
  fetch = prepareFetch({ ...context, outbound })({ botId: 'bot_1', code: {} as never, limits })
})
afterAll(() => opened.disposeAsync())

async function listen(listener: Server): Promise<string> {
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
}

/** Runs all cases of a client, at the same time, as the handler of a bundle; a failed one is the text of its error. */
const handler = (code: string) => `${code}
  const { client } = module.exports
  const { base, closed } = ${JSON.stringify({ base, closed })}
  const perform = async (work) => { try { return await work(base, closed) } catch (error) { return String(error.stack) } }
  exports = module.exports = {
    async handler() {
      const results = await Promise.all(Object.entries(client).map(async ([name, work]) => [name, await perform(work)]))
      return { body: JSON.stringify(Object.fromEntries(results)) }
    },
  }`

test.each(clients)('%s reaches its service over the guarded fetch', async (name) => {
  const limits = { fetches: 50, fetchesAtOnce: 6, timers: 64, cpuMilliseconds: 10_000 }
  const outcome = await sandbox().run(callRun(sdkBot(handler(codes.get(name)!)), {}, { fetch, limits }))
  const told = JSON.parse((done(outcome).result as { body: string }).body) as Record<string, unknown>
  const expected = Object.fromEntries(Object.entries(results).filter(([key]) => key in told))
  expect(told).toEqual(expected)
  expect(Object.keys(told).length).toBe(countOfCases[name] ?? 11)
})
