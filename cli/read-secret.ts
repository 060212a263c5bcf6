import { text } from 'node:stream/consumers'
import { misused } from './failure.ts'

/**
 * Reads a secret from standard input, or from the person at the terminal without echo. Arguments are no place for one: all
 * users of a machine can list those of a process, and shells keep them.
 *
 * @throws Failure when it is empty
 */
export async function readSecret(name: string): Promise<string> {
  if (process.stdin.isTTY) {
    const { askSecretly } = await import('./confirm.ts')
    return nonEmpty(name, await askSecretly(`Value of ${name}: `))
  }
  // `echo` and editors end a line; a value with a line break at its end needs another way.
  return nonEmpty(name, (await text(process.stdin)).replace(/\r?\n$/, ''))
}

function nonEmpty(name: string, value: string): string {
  if (value !== '') return value
  throw misused(`${name} has no value: give it on standard input, for instance \`isobot … < file\``)
}
