import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Pinned, so that the figures of different days do not differ by version. */
const deno = 'deno@2.9.6'

/**
 * Finds Deno's executable. Deno is no dependency, because it takes 100 MB for one use: npx fetches it the first time
 * and caches it.
 *
 * @throws Error with the reason when it is unavailable, for instance without a network
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
