/**
 * A stand-in for `WebAssembly`, which isolates do not have, for the programs of it that published packages cannot do
 * without, each of which the platform has in JavaScript. Every other program is refused, so that code falls back to what it
 * has without WebAssembly.
 */

/** The imports that code gives to a program, by the names of its modules. */
export type Imports = Record<string, Record<string, unknown> | undefined>

/** Opens a program that the platform has in JavaScript; undefined for any other program. */
export type OpenProgram = (program: unknown, imports: Imports) => Promise<{ exports: object }> | undefined

class Instance {
  readonly exports: object

  constructor(exports: object) {
    this.exports = exports
  }
}

const pageBytes = 64 * 1024

/**
 * Upper bound of the pages with which a memory begins. QuickJS asks for 256 and has its stack in the first 82; it grows the memory when it
 * needs more. `llmz` opens a memory for each step of an agent, and those of earlier steps may not be collected yet.
 */
const maxInitialPages = 96

/** The memory of a program, which replaces `buffer` when it grows. */
class Memory {
  buffer: ArrayBuffer

  constructor({ initial }: { initial: number }) {
    this.buffer = new ArrayBuffer(Math.min(initial, maxInitialPages) * pageBytes)
  }
}

class CompileError extends Error {}

type StandIn = typeof empty

/** The stand-in without any program. */
const empty = {
  Instance,
  Memory,
  CompileError,
  LinkError: class LinkError extends Error {},
  RuntimeError: class RuntimeError extends Error {},
  validate: () => false,
  compile: () => Promise.reject(refusal()),
  instantiate: (_program: unknown, _imports?: Imports): Promise<{ instance: Instance }> => Promise.reject(refusal()),
}

/**
 * The stand-in with a program.
 *
 * @param others with other programs; its classes stay, because code compares instances with them
 */
export function webAssemblyOf(open: OpenProgram, others?: StandIn): StandIn {
  const base: StandIn = others ?? empty
  return {
    ...base,
    async instantiate(program: unknown, imports: Imports = {}): Promise<{ instance: Instance }> {
      const opened = await open(program, imports)
      return opened ? { instance: new base.Instance(opened.exports) } : base.instantiate(program, imports)
    },
  }
}

function refusal(): Error {
  return new CompileError(
    'WebAssembly is not available here: only the tokenizer, QuickJS and the parser of undici in published packages are',
  )
}

/** A program that the platform has in JavaScript, and that code may also open at once. */
export interface SyncProgram {
  /** Whether these bytes are the program. */
  matches(bytes: unknown): boolean
  /** @returns its exports */
  open(imports: Imports): object
}

/** The stand-in with a program that code compiles first. */
export function withSyncProgram({ matches, open }: SyncProgram, others: StandIn = empty): object {
  // oxlint-disable-next-line typescript/no-extraneous-class -- Code makes and compares modules, and reads nothing of them.
  class Module {
    constructor(bytes: unknown) {
      if (!matches(bytes)) throw refusal()
    }
  }
  class OpenedInstance {
    readonly exports: object

    constructor(_module: Module, imports: Imports = {}) {
      this.exports = open(imports)
    }
  }
  return {
    ...others,
    Module,
    Instance: OpenedInstance,
    compile: async (bytes: unknown) => new Module(bytes),
    async instantiate(program: unknown, imports?: Imports): Promise<unknown> {
      if (program instanceof Module) return new OpenedInstance(program, imports)
      if (!matches(program)) return others.instantiate(program, imports)
      const module = new Module(program)
      return { module, instance: new OpenedInstance(module, imports) }
    },
  }
}

/** Defines the stand-in with a program that code compiles first, in an isolate. */
export function defineSyncProgram(program: SyncProgram): void {
  const { WebAssembly: others } = globalThis as { WebAssembly?: StandIn }
  const value = withSyncProgram(program, others)
  Object.defineProperty(globalThis, 'WebAssembly', { value, writable: true, configurable: true })
}

/** Defines the stand-in in an isolate, or adds a program to the one that an earlier script has defined. */
export function defineProgram(open: OpenProgram): void {
  const { WebAssembly: others } = globalThis as { WebAssembly?: StandIn }
  const value = webAssemblyOf(open, others)
  Object.defineProperty(globalThis, 'WebAssembly', { value, writable: true, configurable: true })
}
