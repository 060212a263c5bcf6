import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** A version that is known to do what is asked of it here: figures of different days should differ for other reasons. */
const deno = 'deno@2.9.6'

/**
 * Finds Deno's program. It is no dependency, because it has 100 MB and one use: npx fetches it the first time, and keeps
 * it.
 *
 * @throws Error saying why there is none, for instance because there is no network
 */
export async function findDeno(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('npx', [
      '--yes',
      '--fetch-retries=0',
      deno,
      'eval',
      'console.log(Deno.execPath())',
    ])
    return stdout.trim()
  } catch (error) {
    const { stderr } = error as { stderr?: string }
    const reason =
      stderr?.match(/^npm error (?!code|errno|syscall)(.+)$/m)?.[1] ?? (error as Error).message.split('\n')[0]
    throw new Error(`npx ${deno} failed: ${reason}`, { cause: error })
  }
}
