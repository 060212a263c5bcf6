import type { BundleKind } from '../protocol/contract.ts'
import { importName } from '../protocol/import-name.ts'
import type { BundleSource } from '../protocol/protocol.ts'
import type { CachedScript } from './cached-script.ts'
import type { CompiledScript, Context, ExternalCopy, Isolate, Ivm, Script } from './isolated-vm.ts'
import type { Scripts } from './scripts.ts'

const bundleFile = { filename: 'bot.js', lineOffset: -1 }

/** Shorter bundles compile in less time than their code cache saves. */
const minKeptCharacters = 32 * 1024

/**
 * The parts of a bundle that all its isolates share: its text, its preludes, and V8's code cache once this process has
 * compiled it. It has no part in the bundle's environment, and lies outside of any heap.
 */
export class BundleProgram {
  readonly kind: BundleKind
  readonly preludes: CachedScript[]
  readonly #text: ExternalCopy<string>
  readonly #textBytes: number
  #codeCache: ExternalCopy<ArrayBuffer> | undefined
  #codeCacheBytes = 0

  constructor(ivm: Ivm, scripts: Scripts, source: Omit<BundleSource, 'environment'>) {
    const text = toScript(source.code)
    this.kind = source.kind
    this.preludes = scripts.for(source)
    // V8 stores each character of other texts in two bytes.
    this.#textBytes = Buffer.byteLength(text) === text.length ? text.length : 2 * text.length
    this.#text = new ivm.ExternalCopy(text)
  }

  get isWorthKeeping(): boolean {
    return this.#textBytes >= minKeptCharacters
  }

  get bytes(): number {
    return this.#textBytes + this.#codeCacheBytes
  }

  get codeCacheBytes(): number {
    return this.#codeCacheBytes
  }

  /** Evaluates the bundle in a context of an isolate that has not compiled it; for use inside a turn. */
  async evaluate(isolate: Isolate, context: Context): Promise<void> {
    // One switch to the isolate's thread instead of two.
    if (this.#codeCache === undefined) return void (await context.eval(this.#text.copy(), bundleFile))
    const script = await this.compile(isolate)
    await script.run(context)
    script.release()
  }

  async compile(isolate: Isolate): Promise<Script> {
    const options = { ...bundleFile, ...(this.#codeCache && { cachedData: this.#codeCache }) }
    const script = (await isolate.compileScript(this.#text.copy(), options)) as CompiledScript
    if (script.cachedDataRejected === true) this.#codeCache = undefined
    return script
  }

  /**
   * Takes V8's code cache from an isolate that has evaluated the bundle; for use inside a turn. V8 finds the script that the
   * isolate has compiled, so the cache includes the functions that have been called so far.
   */
  async takeCodeCache(isolate: Isolate): Promise<void> {
    const options = { ...bundleFile, produceCachedData: true }
    const script = (await isolate.compileScript(this.#text.copy(), options)) as CompiledScript
    script.release()
    if (script.cachedData === undefined) return
    this.#codeCache = script.cachedData
    this.#codeCacheBytes = script.cachedData.copy().byteLength
  }
}

/**
 * Wraps the bundle as an argument of the kernel's `defineBundle`. The script ends with a number, because its completion
 * value is copied to this process, however large it is.
 *
 * The parentheses around the function make V8 compile it at once. Without them, V8 parses it twice, because it expects no
 * call at first: a bundle of 500 KB then takes 38 ms to load instead of 26.
 */
function toScript(code: string): string {
  return `defineBundle((function (module, exports, require, ${importName}) {\n${code}\n}));0`
}
