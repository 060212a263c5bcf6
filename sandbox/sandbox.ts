import type { CompileLimits, Compiler } from './compiler/contract.ts'
import type { ExtractionLimits, Extractor } from './extractor/contract.ts'
import type { IsolationLayer } from './isolation/names.ts'
import type {
  Bundle,
  ClientOperation,
  CodeSuspension,
  Inspection,
  Limits,
  Outcome,
  Profile,
  Recycling,
  RunRequest,
  SandboxLog,
  SandboxWatch,
  SlotMemory,
} from './protocol/contract.ts'
import type { Scripts } from './scripts/contract.ts'

export interface SandboxOptions {
  /** Number of processes that hold isolates. */
  processes: number
  /** Intended memory of these processes together, in megabytes. Default: 320 each. */
  memoryMegabytes?: number
  /** Limits of each process that compiles an upload. */
  compile?: Partial<CompileLimits>
  /** Limits of each process that reads a document. */
  extract?: Partial<ExtractionLimits>
  /** Default: `hardened`. */
  profile?: Profile
  /** Required isolation layers, without which the sandbox does not open. */
  require?: readonly IsolationLayer[]
  operations: ClientOperation[]
  /** Names of hooks that a bundle may declare. */
  hooks: readonly string[]
  log: SandboxLog
  /**
   * Called when code goes to quarantine or is disabled. This sandbox already enforces that; the caller has to inform
   * others.
   */
  onSuspension?: (suspension: CodeSuspension) => void
  watch?: SandboxWatch
  /** Limits after which a healthy process is replaced; only tests change the defaults. */
  recycling?: Partial<Recycling>
}

/** All that a worker has of the sandbox. */
export interface Sandbox {
  /** Runs to an outcome. Never rejects because of the bundle. */
  run(run: RunRequest): Promise<Outcome>
  /** Evaluates a bundle once and returns its declaration. */
  inspect(bundle: Bundle, limits: Limits): Promise<Inspection>
  /** Compiles code without running it. */
  readonly compiler: Compiler
  readonly extractor: Extractor
  readonly scripts: Scripts
  /** Memory of the processes, as reported with their last heartbeats. */
  memory(): SlotMemory[]
  /** Kills all processes; runs in flight end as interrupted. */
  close(): Promise<void>
}
