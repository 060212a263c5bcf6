import { Script, type Context as OwnContext } from 'node:vm'
import type { Context, ExternalCopy, Isolate, Ivm, Reference, Script as IsolateScript } from './isolated-vm.ts'

/**
 * A script of the platform that many isolates run; its completion value is a function.
 *
 * It is rehearsed in this process first, to fill V8's code cache: with the functions of its start already compiled,
 * isolates run it in a fraction of the time. A rehearsal involves no bundle.
 */
export class CachedScript<Made extends Function = Function> {
  readonly #ivm: Ivm
  readonly #source: string
  readonly #filename: string
  #rehearsed: Script | undefined
  #cachedData: ExternalCopy<ArrayBuffer> | undefined

  constructor(ivm: Ivm, source: string, filename: string) {
    this.#ivm = ivm
    this.#source = source
    this.#filename = filename
  }

  get isCached(): boolean {
    return this.#cachedData !== undefined
  }

  /** Runs the script in a context of this process; returns the function. */
  rehearse(context: OwnContext): unknown {
    this.#rehearsed = new Script(this.#source, { filename: this.#filename })
    return this.#rehearsed.runInContext(context) as unknown
  }

  /** Saves V8's code cache after the rehearsal. */
  keep(): void {
    if (this.#rehearsed === undefined) return
    const { buffer, byteOffset, length } = this.#rehearsed.createCachedData()
    this.#rehearsed = undefined
    this.#cachedData = new this.#ivm.ExternalCopy(buffer.slice(byteOffset, byteOffset + length))
  }

  async compile(isolate: Isolate): Promise<IsolateScript> {
    return isolate.compileScript(this.#source, this.#options())
  }

  /** Runs the script compiled for an isolate. */
  async run(compiled: IsolateScript, context: Context): Promise<Reference<Made>> {
    return (await compiled.run(context, { reference: true })) as Reference<Made>
  }

  /** Runs the script on the main thread of this process: for isolates that hold no bot code yet. */
  runNow(isolate: Isolate, context: Context): Reference<Made> {
    const script = isolate.compileScriptSync(this.#source, this.#options())
    const result = script.runSync(context, { reference: true }) as Reference<Made>
    script.release()
    return result
  }

  #options() {
    return { filename: this.#filename, ...(this.#cachedData && { cachedData: this.#cachedData }) }
  }
}
