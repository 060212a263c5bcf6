import { randomBytes } from 'node:crypto'
import type { KernelSettings } from '../isolate/kernel.ts'
import { secretRedactor } from '../protocol/redact-secrets.ts'
import type { BundleProgram } from './bundle-program.ts'
import type { CachedScript } from './cached-script.ts'
import { Computations } from './computations.ts'
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

/** The contents of each realm of an isolate. */
export interface LoadedBundle {
  program: BundleProgram
  environment: Record<string, string>
}

/** Allocation units outside of the heap after which the next run gets a new isolate. */
const unitsUntilExhausted = 10

/** Length of the seed for a realm's random numbers. */
const seedBytes = 32

const asReference = { result: { reference: true } } as const

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
  #bundle: LoadedBundle | undefined
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

  /** The program of the bundle, from its load until it is released. */
  get program(): BundleProgram | undefined {
    return this.#bundle?.program
  }

  /** Makes the first realm; for use inside a turn. Throws when the bundle does not compile. */
  async load(bundle: LoadedBundle): Promise<void> {
    const { context, open } = this.#blank!
    this.#blank = undefined
    this.redact = secretRedactor(bundle.environment)
    const installs = bundle.program.preludes.map((script) => script.runNow(this.#isolate, context))
    const realm = new Realm(this.#turns, context)
    realm.entrance = open.applySync(undefined, this.#given(realm, bundle, installs), asReference)
    for (const reference of [open, ...installs]) reference.release()
    await bundle.program.evaluate(this.#isolate, context)
    this.#first = realm
    this.#bundle = bundle
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const callback of waiting) callback()
  }

  /** Forgets the program, unless later realms evaluate it, so that its text can be freed. */
  releaseProgram(): void {
    if (!this.isIsolated) this.#bundle = undefined
  }

  /** Takes V8's code cache of the bundle; for use inside a turn. */
  async takeCodeCache(): Promise<void> {
    await this.program?.takeCodeCache(this.#isolate)
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

  async #openAnother(bundle: LoadedBundle): Promise<Realm> {
    const context = await this.#isolate.createContext()
    const realm = new Realm(this.#turns, context)
    try {
      const open = await this.#run(this.#options.scripts.kernel, context)
      const installs: Reference<Function>[] = []
      for (const prelude of bundle.program.preludes) installs.push(await this.#run(prelude, context))
      realm.entrance = await open.apply(undefined, this.#given(realm, bundle, installs), asReference)
      for (const reference of [open, ...installs]) reference.release()
      this.#bundleScript ??= await bundle.program.compile(this.#isolate)
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
  #given(realm: Realm, { program, environment }: LoadedBundle, installs: Reference<Function>[]) {
    const { ivm, scripts, posted } = this.#options
    const seed = randomBytes(seedBytes).toString('hex')
    const settings: KernelSettings = { operations: scripts.operations, kind: program.kind, environment, seed }
    const computations = new Computations()
    const post = new ivm.Callback(
      (what: unknown, run: unknown, first: unknown, second: unknown) => {
        if (this.#turns.dead) return
        // After loading, it is too late: runs already share a realm.
        if (what === 'isolated') this.isIsolated ||= this.#waiting !== undefined
        else if (what === 'allocated') this.#allocated(realm, Number(first))
        else if (what === 'compute') computations.compute(String(first), second)
        else posted(realm, String(what), String(run), String(first), isBytes(second) ? second : String(second))
      },
      { ignored: true },
    )
    const memory = new ivm.ExternalCopy(computations.memory).copyInto({ release: true })
    return [post, memory, JSON.stringify(settings), ...installs.map((install) => install.derefInto())]
  }
}

/** Arguments are copies, so bytes are a buffer of this process. */
function isBytes(value: unknown): value is ArrayBuffer {
  return value instanceof ArrayBuffer
}
