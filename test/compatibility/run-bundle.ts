import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Bundle, LogLine } from '#sandbox/protocol/contract.ts'
import { callRun, type TestSandbox } from '../sandbox/fixture.ts'

const run = promisify(execFile)

/**
 * Calls `handler` of a bundle in a process of Node that may read the bundle and nothing else.
 *
 * @param folder for the bundle's file, which has this name
 * @returns the body of the response
 * @throws Error if there is none
 */
export async function runInNode(code: string, folder: string, name: string): Promise<unknown> {
  const program = join(folder, `${name}.cjs`)
  await writeFile(program, code)
  try {
    const { stdout } = await run(
      process.execPath,
      [
        '--permission',
        `--allow-fs-read=${folder}`,
        `--allow-fs-read=${import.meta.dirname}`,
        join(import.meta.dirname, 'run-in-node.cjs'),
        program,
      ],
      { env: {}, cwd: folder, timeout: 20_000, maxBuffer: 16 * 1024 * 1024 },
    )
    return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as unknown
  } catch (error) {
    throw new Error(`the process of Node failed: ${(error as Error).message.slice(0, 500)}`, { cause: error })
  }
}

const limits = {
  memoryMegabytes: 256,
  cpuMilliseconds: 15_000,
  loadMilliseconds: 5000,
  wallMilliseconds: 30_000,
  timers: 2000,
  fetches: 100,
  logLines: 1000,
  resultCharacters: 8_000_000,
}

/**
 * Calls `handler` of a bundle in an isolate.
 *
 * @returns the body of the response, and the log
 * @throws Error with the outcome of a run that fails
 */
export async function runInIsolate(bundle: Bundle, sandbox: TestSandbox): Promise<{ body: unknown; logs: LogLine[] }> {
  const outcome = await sandbox.run(callRun(bundle, {}, { limits }))
  if (outcome.status === 'done') {
    return { body: JSON.parse((outcome.result as { body: string }).body) as unknown, logs: outcome.logs }
  }
  const { status, ...rest } = outcome
  const { logs: _logs, hooks: _hooks, ...shown } = rest as Record<string, unknown>
  throw new Error(`the run ends: ${status} ${JSON.stringify(shown).slice(0, 1500)}`)
}
