import { createInterface } from 'node:readline/promises'
import { failed, misused } from './failure.ts'
import { harmless } from './output.ts'

/**
 * Asks a person whether something that cannot be undone is to be done.
 *
 * @param isConfirmed whether that was said with the command, as `--yes`
 * @throws Failure when the answer is no, or when there is nobody to ask
 */
export async function confirm(question: string, isConfirmed: boolean): Promise<void> {
  if (isConfirmed) return
  if (!process.stdin.isTTY) throw misused(`${question} There is nobody to ask: say --yes`)
  const answer = await ask(`${question} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw failed('Nothing was done')
}

/** Asks a person at the terminal for a line. */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new AbortController()
  terminal.once('close', () => closed.abort())
  try {
    return await terminal.question(harmless(question), { signal: closed.signal })
  } catch (cause) {
    process.stderr.write('\n')
    throw failed('Nothing was done', { cause })
  } finally {
    terminal.close()
  }
}

/** Asks for something that nobody else is to see: it is not shown as it is typed. */
export async function askSecretly(question: string): Promise<string> {
  process.stderr.write(question)
  process.stdin.setRawMode(true)
  process.stdin.setEncoding('utf8')
  let secret = ''
  try {
    // Something else may be asked for afterwards, so the input stays open.
    for await (const keys of process.stdin.iterator({ destroyOnReturn: false })) {
      for (const key of keys as string) {
        if (key === '\u0003' || key === '\u0004') throw failed('Nothing was done')
        if (key === '\r' || key === '\n') return secret
        secret = key === '\u007F' || key === '\b' ? secret.slice(0, -1) : secret + key
      }
    }
    return secret
  } finally {
    process.stdin.setRawMode(false).pause()
    process.stderr.write('\n')
  }
}
