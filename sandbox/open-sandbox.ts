import { randomUUID } from 'node:crypto'
import type { Bundle, Inspection, Limits, Outcome, RunRequest } from './protocol/contract.ts'
import type { Sandbox, SandboxOptions } from './sandbox.ts'
import { inspectionHandle } from './host/inspection-handle.ts'
import { usualMegabytes } from './host/memory.ts'
import { openPool } from './host/pool.ts'
import { bundleExtractor, bundlePrograms, bundleScripts } from './host/programs.ts'
import { openCompiler } from './compiler/open-compiler.ts'
import { runHandle, type RunHandle } from './host/run-handle.ts'
import { openExtractor } from './extractor/open-extractor.ts'
import { openScripts } from './scripts/open-scripts.ts'
import { detectIsolation } from './isolation/detect-isolation.ts'

/** Starts the sandbox processes, and resolves when all of them can take runs. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { processes, profile = 'hardened', require = [], operations, hooks, log } = options
  const isolation = await detectIsolation({ profile, require, log })
  const { memoryMegabytes = processes * usualMegabytes, onSuspension, watch, recycling } = options
  const programs = await bundlePrograms()
  const given = { processes, memoryMegabytes, isolation, programs, operations, log, onSuspension, watch, recycling }
  const pool = await openPool(given)
  const compiler = openCompiler({ isolation, reader: programs.reader, limits: options.compile, log })
  const extractor = openExtractor({ isolation, program: bundleExtractor, limits: options.extract, log })
  const scripts = openScripts({ isolation, program: bundleScripts, log })
  const runs = new Map<string, RunHandle>()

  return {
    async run(request: RunRequest): Promise<Outcome> {
      const within = request.task.kind === 'event' ? undefined : request.task.within
      const outer = within === undefined ? undefined : runs.get(within)
      if (within !== undefined && outer === undefined) return orphaned(within)
      const run = runHandle(request, log, outer)
      runs.set(run.id, run)
      await pool.assign(run)
      const outcome = await run.outcome
      runs.delete(run.id)
      return outcome
    },
    async inspect(bundle: Bundle, limits: Limits): Promise<Inspection> {
      const run = inspectionHandle(`inspection-${randomUUID()}`, bundle, limits, hooks)
      await pool.assign(run)
      return run.inspection
    },
    compiler,
    extractor,
    scripts,
    memory: () => pool.memory(),
    async close() {
      await Promise.all([pool.close(), compiler.close(), extractor.close(), scripts.close()])
    },
  }
}

function orphaned(within: string): Outcome {
  return {
    status: 'interrupted',
    reason: `the run ${within}, which called this one, is not in flight`,
    logs: [],
    cpuMilliseconds: 0,
    hooks: [],
  }
}
