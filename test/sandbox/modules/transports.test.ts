import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callRun, done, sdkBot } from '../fixture.ts'
import { sandboxOfFile } from '../prelude/compare.ts'
import { openGuardedFetch, type GuardedFetch } from './guarded-fetch.ts'
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

/** The result of each case, with each client that has it. */
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
let guarded: GuardedFetch
let base: string

beforeAll(async () => {
  const entryPoints = clients.map((name) => new URL(`transports/${name}.ts`, import.meta.url).pathname)
  // As the public command line bundles.
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    write: false,
    outdir: '/',
    platform: 'node',
    format: 'cjs',
    target: 'es2020',
    minify: true,
    keepNames: true,
    tsconfigRaw: {},
  })
  for (const [index, name] of clients.entries()) codes.set(name, outputFiles[index]!.text)
  guarded = await openGuardedFetch()
  base = await guarded.serve((request, response) => void answer(request, response))
})
afterAll(() => guarded[Symbol.asyncDispose]())

/** Runs all cases of a client, at the same time, as the handler of a bundle; a failed one is the text of its error. */
const handler = (code: string) => `${code}
  const { client } = module.exports
  const { base, closed } = ${JSON.stringify({ base, closed: guarded.closed })}
  const perform = async (work) => { try { return await work(base, closed) } catch (error) { return String(error.stack) } }
  exports = module.exports = {
    async handler() {
      const results = await Promise.all(Object.entries(client).map(async ([name, work]) => [name, await perform(work)]))
      return { body: JSON.stringify(Object.fromEntries(results)) }
    },
  }`

test.each(clients)('%s reaches its service over the guarded fetch', async (name) => {
  const limits = { fetches: 50, fetchesAtOnce: 6, timers: 64, cpuMilliseconds: 10_000 }
  const outcome = await sandbox().run(callRun(sdkBot(handler(codes.get(name)!)), {}, { fetch: guarded.fetch, limits }))
  const told = JSON.parse((done(outcome).result as { body: string }).body) as Record<string, unknown>
  const expected = Object.fromEntries(Object.entries(results).filter(([key]) => key in told))
  expect(told).toEqual(expected)
  expect(Object.keys(told).length).toBe(countOfCases[name] ?? 11)
})
