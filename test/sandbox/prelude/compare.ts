import { createRequire } from 'node:module'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BundleKind, Json } from '#sandbox/protocol/contract.ts'
import { bot, callRun, done, openTestSandbox, sdkBot, type TestSandbox } from '../fixture.ts'

/** A title, and the body of an async function that returns the result. */
export type Case = readonly [title: string, body: string]

type AsyncFunctionConstructor = new (...source: string[]) => (require: unknown) => Promise<unknown>
const AsyncFunction = (async () => {}).constructor as AsyncFunctionConstructor

/**
 * Tells what came of a case, as data: also what JSON has no word for, and by name what was thrown. It is code, because
 * it runs on both sides. Plain objects lose their prototype: a property of theirs is compared as it is.
 */
const observer = `
  const show = (value) => {
    if (value === undefined || typeof value === 'bigint' || typeof value === 'symbol') return '<' + String(value) + '>'
    if (typeof value === 'function') return '<function ' + value.name + '>'
    if (typeof value === 'number') return Object.is(value, -0) || !Number.isFinite(value) ? '<' + (Object.is(value, -0) ? '-0' : value) + '>' : value
    if (typeof value !== 'object' || value === null) return value
    if (ArrayBuffer.isView(value) || Object.prototype.toString.call(value) === '[object ArrayBuffer]') {
      const bytes = ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : new Uint8Array(value)
      return ['<bytes>', ...bytes]
    }
    if (value instanceof Error) return '<' + value.name + '>'
    if (Array.isArray(value)) return Array.from(value, show)
    return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, show(held)]))
  }
  const observe = async (work) => {
    let timer
    const late = new Promise((resolve) => { timer = setTimeout(() => resolve('<it takes for ever>'), 3000) })
    try {
      return show(await Promise.race([work(), late]))
    } catch (error) {
      return '<threw ' + (error instanceof Error ? error.name + (typeof error.code === 'number' ? ' ' + error.code : '') : String(error)) + '>'
    } finally {
      clearTimeout(timer)
    }
  }`

/**
 * Adds a test for each case: it does in a bundle what it does in Node. All of them are one run of one bundle. Bundles of
 * the public SDK have `require`.
 */
export function testAsInNode(sandbox: () => TestSandbox, cases: readonly Case[], kind: BundleKind = 'native'): void {
  let inside: Json[] = []
  beforeAll(async () => {
    const works = cases.map(([, body]) => `async () => {\n${body}\n}`).join(',\n')
    const code = `${observer}
      exports.handler = async () => {
        const results = []
        for (const work of [${works}]) results.push(await observe(work))
        return ${kind === 'sdk' ? '{ body: JSON.stringify(results) }' : 'results'}
      }`
    const limits = { cpuMilliseconds: 15_000, wallMilliseconds: 60_000, timers: 64, resultCharacters: 1_000_000 }
    const bundle = kind === 'sdk' ? sdkBot(code) : bot(code)
    const { result } = done(await sandbox().run(callRun(bundle, {}, { limits })))
    inside = kind === 'sdk' ? (JSON.parse((result as { body: string }).body) as Json[]) : (result as Json[])
  }, 60_000)

  test.each(cases.map(([title, body], index) => ({ title, body, index })))('$title', async ({ body, index }) => {
    expect(inside[index]).toEqual(await inNode(body))
  })
}

/** The result of a body in a native bundle, and its result in Node. */
export async function inBoth(sandbox: TestSandbox, body: string): Promise<[inside: Json, inNode: Json]> {
  const code = `${observer}\nexports.handler = () => observe(async () => {\n${body}\n})`
  const limits = { cpuMilliseconds: 15_000, wallMilliseconds: 60_000, timers: 64, resultCharacters: 4_000_000 }
  const { result } = done(await sandbox.run(callRun(bot(code), {}, { limits })))
  return [result, await inNode(body)]
}

async function inNode(body: string): Promise<Json> {
  const run = new AsyncFunction('require', `${observer}\nreturn observe(async () => {\n${body}\n})`)
  return (await run(createRequire(import.meta.url))) as Json
}

/** A sandbox for the tests of a file. */
export function sandboxOfFile(): () => TestSandbox {
  let sandbox: TestSandbox
  beforeAll(async () => {
    sandbox = await openTestSandbox()
  })
  afterAll(() => sandbox.close())
  return () => sandbox
}
