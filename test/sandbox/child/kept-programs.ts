/**
 * A program of its own: holds isolates as a sandbox process does, one at a time, and is given runs one after another. Says
 * which frames it sent for each, and of each code cache of a bundle whether V8 took it.
 */

import { text } from 'node:stream/consumers'
import type { Isolate, IsolateOptions, ScriptInfo } from 'isolated-vm'
import { findAddon } from '#sandbox/isolation/addon.ts'
import { loadIsolatedVm, type CompiledScript } from '#sandbox/child/isolated-vm.ts'
import { ProcessSandbox } from '#sandbox/child/sandbox.ts'
import { Scripts } from '#sandbox/child/scripts.ts'
import type { FromProcess } from '#sandbox/host/frames.ts'
import type { KeptAnswer, KeptRuns } from './kept-programs.test.ts'

const { programs, softBytes, runs } = JSON.parse(await text(process.stdin)) as KeptRuns
const ivm = loadIsolatedVm(findAddon())
const scripts = new Scripts({ ivm, ...programs, operations: [] })
const sent: FromProcess[][] = []
const tookCaches: boolean[] = []

/** An isolate that reports its code caches. */
function watch(isolate: Isolate): Isolate {
  const compileScript = async (code: string, options?: ScriptInfo) => {
    const script = (await isolate.compileScript(code, options)) as CompiledScript
    if (options?.filename === 'bot.js' && options.cachedData) tookCaches.push(script.cachedDataRejected === false)
    return script
  }
  const get = (_: Isolate, name: string): unknown => {
    const value: unknown = name === 'compileScript' ? compileScript : Reflect.get(isolate, name, isolate)
    return typeof value === 'function' ? (value.bind(isolate) as unknown) : value
  }
  return new Proxy(isolate, { get: get as ProxyHandler<Isolate>['get'] & {} })
}

const Watched = new Proxy(ivm.Isolate, {
  construct: (Isolate, [options]) => watch(new Isolate(options as IsolateOptions)),
})
const watching = new Proxy(ivm, {
  get: (_, name) => (name === 'Isolate' ? Watched : Reflect.get(ivm, name)) as unknown,
})
const sandbox = new ProcessSandbox({ ivm: watching, scripts, softBytes, isolates: 1, send })

function send(frame: FromProcess): void {
  sent.at(-1)!.push(frame)
  const { source, environment } = runs[sent.length - 1]!
  if (frame.type === 'code') sandbox.receive({ type: 'code', bundle: frame.bundle, source: { ...source, environment } })
  if (frame.type === 'environment') sandbox.receive({ type: 'environment', bundle: frame.bundle, environment })
  const types = sent.at(-1)!.map(({ type }) => type)
  if (types.includes('done') && types.lastIndexOf('over') >= types.lastIndexOf('long')) setImmediate(next)
}

function next(): void {
  const run = runs[sent.length]
  if (run !== undefined) {
    sent.push([])
    return sandbox.receive(run.frame)
  }
  const answer: KeptAnswer = { sent, tookCaches }
  process.stdout.write(JSON.stringify(answer), () => process.exit())
}

next()
