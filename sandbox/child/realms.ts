import { randomBytes } from 'node:crypto'
import type { KernelSettings } from '../isolate/kernel.ts'
import type { BundleSource } from '../protocol/protocol.ts'
import { secretRedactor } from '../protocol/redact-secrets.ts'
import type { CachedScript } from './cached-script.ts'
import type { Context, Isolate, Ivm, Reference, Script } from './isolated-vm.ts'
import { Realm } from './realm.ts'
import type { OpenKernel, Scripts } from './scripts.ts'
import type { Turns } from './turn.ts'

export interface RealmsOptions {
  ivm: Ivm
  scripts: Scripts
  /** The kernel of a realm has posted a message. */
  posted(realm: Realm, kind: string, run: string, first: string, second: string | ArrayBuffer): void
}

/** The parts of each realm of an isolate. */
interface Bundle extends Omit<BundleSource, 'code'> {
  preludes: CachedScript[]
  /** Kept while further realms may have to evaluate it. */
  code: string
}

/** Allocation units outside of the heap after which the next run gets a new isolate. */
const unitsUntilExhausted = 10

/** Length of the seed for a realm's random numbers. */
const seedBytes = 32

const asReference = { result: { reference: true } } as const
const bundleFile = { filename: 'bot.js', lineOffset: -1 }

/**
 * The realms of one isolate: one that all its runs share or, where the bundle exports `isolation = 'event'`, one for
 * each run and the runs that it calls.
 *
 * The first realm is made on the main thread of this process, because each switch to the isolate's own thread takes 0.1
 * ms. That is safe, because the isolate holds no bot code yet. Later realms are made on the isolate's thread, in a
 * turn.
 */
export class Realms {
  /** Whether each run gets a realm of its own. */
  isIsolated = false
  /** Hides the secrets of the bundle's environment. */
  redact = secretRedactor()

  readonly #turns: Turns
  readonly #isolate: Isolate
  readonly #options: RealmsOptions
  readonly #scripts = new Map<CachedScript, Script>()
  /** A context with the kernel, for the first realm. */
  #blank: { context: Context; open: Reference<OpenKernel> } | undefined
  #bundle: Bundle | undefined
  #bundleScript: Script | undefined
  /** The first realm, until a run gets it as its own. */
  #first: Realm | undefined
  #waiting: (() => void)[] | undefined = []
  /** Allocation units outside of the heap so far. */
  #units = 0

  constructor(turns: Turns, isolate: Isolate, options: RealmsOptions) {
    this.#turns = turns
    this.#isolate = isolate
    this.#options = options
    const context = isolate.createContextSync()
    this.#blank = { context, open: options.scripts.kernel.runNow(isolate, context) }
  }

  /** Makes the first realm; for use inside a turn. Throws when the bundle does not compile. */
  async load(source: BundleSource): Promise<void> {
    const { context, open } = this.#blank!
    this.#blank = undefined
    this.redact = secretRedactor(source.environment)
    const bundle = { ...source, preludes: this.#options.scripts.for(source) }
    const installs = bundle.preludes.map((script) => script.runNow(this.#isolate, context))
    const realm = new Realm(this.#turns, context)
    realm.entrance = open.applySync(undefined, this.#given(realm, bundle, installs), asReference)
    for (const reference of [open, ...installs]) reference.release()
    await context.eval(toScript(bundle.code), bundleFile)
    this.#first = realm
    if (this.isIsolated) this.#bundle = bundle
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const callback of waiting) callback()
  }

  /** Calls back when the bundle is loaded, at once if it is already, and never if loading fails. */
  whenLoaded(callback: () => void): void {
    if (this.#waiting === undefined) callback()
    else this.#waiting.push(callback)
  }

  /** The realm that all runs share. */
  get shared(): Realm | undefined {
    return this.isIsolated ? undefined : this.#first
  }

  /** Opens a realm that no run has used; for use inside a turn. */
  async open(): Promise<Realm> {
    const first = this.#first
    this.#first = undefined
    return first ?? this.#openAnother(this.#bundle!)
  }

  async #openAnother(bundle: Bundle): Promise<Realm> {
    const context = await this.#isolate.createContext()
    const realm = new Realm(this.#turns, context)
    try {
      const open = await this.#run(this.#options.scripts.kernel, context)
      const installs: Reference<Function>[] = []
      for (const prelude of bundle.preludes) installs.push(await this.#run(prelude, context))
      realm.entrance = await open.apply(undefined, this.#given(realm, bundle, installs), asReference)
      for (const reference of [open, ...installs]) reference.release()
      this.#bundleScript ??= await this.#isolate.compileScript(toScript(bundle.code), bundleFile)
      bundle.code = ''
      await this.#bundleScript.run(context)
      return realm
    } catch (error) {
      realm.release()
      throw error
    }
  }

  /** Runs a script, which is compiled once per isolate. */
  async #run<Made extends Function>(script: CachedScript<Made>, context: Context): Promise<Reference<Made>> {
    const compiled = this.#scripts.get(script) ?? (await script.compile(this.#isolate))
    this.#scripts.set(script, compiled)
    return script.run(compiled, context)
  }

  /** Counts allocation units for all realms of the isolate: V8 is slow to collect memory that it does not count. */
  #allocated(realm: Realm, units: number): void {
    const wasExhausted = this.#units >= unitsUntilExhausted
    this.#units += units
    if (!wasExhausted && this.#units >= unitsUntilExhausted) this.#options.posted(realm, 'exhausted', '', '', '')
  }

  /** The arguments with which the kernel is opened. */
  #given(realm: Realm, { kind, environment }: Bundle, installs: Reference<Function>[]) {
    const { ivm, scripts, posted } = this.#options
    const seed = randomBytes(seedBytes).toString('hex')
    const settings: KernelSettings = { operations: scripts.operations, kind, environment, seed }
    const post = new ivm.Callback(
      (what: unknown, run: unknown, first: unknown, second: unknown) => {
        if (this.#turns.dead) return
        // After loading, it is too late: runs already share a realm.
        if (what === 'isolated') this.isIsolated ||= this.#waiting !== undefined
        else if (what === 'allocated') this.#allocated(realm, Number(first))
        else posted(realm, String(what), String(run), String(first), isBytes(second) ? second : String(second))
      },
      { ignored: true },
    )
    return [post, JSON.stringify(settings), ...installs.map((install) => install.derefInto())]
  }
}

/** Arguments are copies, so bytes are a buffer of this process. */
function isBytes(value: unknown): value is ArrayBuffer {
  return value instanceof ArrayBuffer
}

/**
 * Wraps the bundle as an argument of the kernel's `defineBundle`. The script ends with a number, because its completion
 * value is copied to this process, however large it is.
 *
 * The parentheses around the function make V8 compile it at once. Without them, V8 parses it twice, because it expects no
 * call at first: a bundle of 500 KB then takes 38 ms to load instead of 26.
 */
function toScript(code: string): string {
  return `defineBundle((function (module, exports, require) {\n${code}\n}));0`
}
