import { createInterface } from 'node:readline/promises'
import { failed, misused } from './failure.ts'
import { inOneLine, withoutControlCharacters } from './output.ts'

/**
 * Asks a person to confirm an action that cannot be undone.
 *
 * @param isConfirmed whether the command line confirms it, as `--yes`
 * @param otherwise the state of things when the answer is no
 * @throws Failure when the answer is no, or when standard input is not a terminal
 */
export async function confirm(asked: string, isConfirmed: boolean, otherwise = unchanged): Promise<void> {
  if (isConfirmed) return
  // Names in it are those of users.
  const question = inOneLine(asked)
  if (!process.stdin.isTTY) {
    const state = otherwise === unchanged ? '' : `. Until then ${otherwise}`
    throw misused(`${question} Without a terminal, confirm with --yes${state}`)
  }
  const answer = await ask(`${question} [y/N] `, otherwise)
  if (!/^y(es)?$/i.test(answer.trim())) throw failed(`Cancelled: ${otherwise}`)
}

const unchanged = 'nothing was changed'

/**
 * Reads one line from a person at the terminal.
 *
 * @param otherwise the state of things when the person gives no line
 */
export async function ask(question: string, otherwise = unchanged): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new AbortController()
  terminal.once('close', () => closed.abort())
  try {
    return await terminal.question(withoutControlCharacters(question), { signal: closed.signal })
  } catch (cause) {
    process.stderr.write('\n')
    throw failed(`Cancelled: ${otherwise}`, { cause })
  } finally {
    terminal.close()
  }
}

/** Reads a secret from the terminal without echo. */
export async function askSecretly(question: string): Promise<string> {
  process.stderr.write(question)
  process.stdin.setRawMode(true)
  process.stdin.setEncoding('utf8')
  let secret = ''
  try {
    // The input stays open for further questions.
    for await (const keys of process.stdin.iterator({ destroyOnReturn: false })) {
      for (const key of keys as string) {
        if (key === '\u0003' || key === '\u0004') throw failed('Cancelled: nothing was changed')
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
