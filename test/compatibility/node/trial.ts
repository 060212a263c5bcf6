import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { callRun, sdkBot, type TestSandbox } from '../../sandbox/fixture.ts'

const run = promisify(execFile)

/** The answer of a wrapped test. */
export interface Told {
  skipped?: string
  problem?: { text: string; stack?: string; code?: string }
}

/** Runs a wrapped test in a process of Node that may read its program and nothing else. */
export async function tryInNode(code: string, folder: string, name: string): Promise<Told> {
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
    return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Told
  } catch (error) {
    return { problem: { text: `the process of Node failed: ${(error as Error).message.slice(0, 500)}` } }
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
  resultCharacters: 1_000_000,
}

/** Runs a wrapped test in an isolate, as the bundle of a bot. */
export async function tryInIsolate(code: string, sandbox: TestSandbox): Promise<Told> {
  const outcome = await sandbox.run(callRun(sdkBot(code), {}, { limits }))
  if (outcome.status === 'done') {
    const told = JSON.parse((outcome.result as { body: string }).body) as Told
    const unhandled = outcome.logs.find(({ message }) => message.startsWith('Unhandled rejection'))
    return unhandled && (told.problem?.text.startsWith('Error: called') ?? true)
      ? { problem: { text: unhandled.message } }
      : told
  }
  const { status, ...rest } = outcome
  const { logs: _logs, hooks: _hooks, ...shown } = rest as Record<string, unknown>
  return { problem: { text: `the run ends: ${status} ${JSON.stringify(shown).slice(0, 1500)}` } }
}
