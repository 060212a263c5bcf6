import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'

/** A shell that a reader has open: what one example sets, the next one finds. `typed` are lines that an example reads. */
export interface Shell extends AsyncDisposable {
  /** Runs lines and gives what they print. Fails when the last one does. */
  run(script: string, typed: string[]): Promise<string>
  /** Runs lines that go on by themselves until they have printed something, and ends them as Ctrl-C does. */
  runUntil(script: string, typed: string[], printed: RegExp): Promise<string>
}

/**
 * Opens a shell.
 *
 * @param directory where it is, and where it keeps its scripts
 */
export function openShell(directory: string, environment: NodeJS.ProcessEnv): Shell {
  const bash = spawn('bash', ['-c', 'set -a -m; exec 2>&1; while read -r script; do . "$script"; done'], {
    cwd: directory,
    env: environment,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const closed = once(bash, 'close')
  let count = 0

  /** @returns how an example reads what is typed, and waits for more if it goes on */
  async function inputOf(typed: string[], goesOn: boolean): Promise<string> {
    const file = join(directory, `.example-${count + 1}.in`)
    const text = typed.map((line) => `${line}\n`).join('')
    await writeFile(file, text)
    return goesOn ? `<(cat ${file}; sleep 300)` : file
  }

  async function start(lines: (file: string) => string): Promise<string> {
    const file = join(directory, `.example-${++count}`)
    await writeFile(`${file}.sh`, lines(file))
    bash.stdin.write(`${file}.sh\n`)
    return file
  }

  return {
    async run(script, typed) {
      const input = await inputOf(typed, false)
      const file = await start((name) => `{\n${script}\n} < ${input} > ${name}.out 2>&1\necho $? > ${name}.status\n`)
      await expect.poll(() => textOf(`${file}.status`), { timeout: 150_000, interval: 20 }).toMatch(/\n/)
      const printed = await textOf(`${file}.out`)
      const status = (await textOf(`${file}.status`)).trim()
      if (status !== '0') throw new Error(`It ended with exit code ${status}:\n${script}\n${printed}`)
      return printed
    },
    async runUntil(script, typed, printed) {
      const input = await inputOf(typed, true)
      const file = await start((name) => `{\n${script}\n} < ${input} > ${name}.out 2>&1 &\necho $! > ${name}.pid\n`)
      await expect.poll(() => textOf(`${file}.pid`), { timeout: 10_000, interval: 20 }).toMatch(/\n/)
      try {
        await expect.poll(() => textOf(`${file}.out`), { timeout: 40_000, interval: 50 }).toMatch(printed)
      } finally {
        endGroup(Number(await textOf(`${file}.pid`)))
      }
      return textOf(`${file}.out`)
    },
    async [Symbol.asyncDispose]() {
      bash.stdin.end()
      await closed
    },
  }
}

const textOf = (file: string) => readFile(file, 'utf8').catch(() => '')

/** Job control gives each job a group of its own, with the number of its first process. */
function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGINT')
    process.kill(-group, 'SIGTERM')
  } catch {
    // It has ended by itself.
  }
}
