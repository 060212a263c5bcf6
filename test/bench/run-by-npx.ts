import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/**
 * Runs a program of packages that are no dependencies, because they are large and serve one benchmark: npx fetches them the
 * first time and caches them.
 *
 * @param packages with their versions, so that the figures of different days do not differ by version
 * @param parameters of npx
 * @returns the trimmed output
 * @throws Error with the reason when they are unavailable, for instance without a network
 */
export async function runByNpx(packages: string[], parameters: string[]): Promise<string> {
  const wanted = packages.flatMap((name) => ['--package', name])
  try {
    const { stdout } = await promisify(execFile)('npx', ['--yes', '--fetch-retries=0', ...wanted, ...parameters])
    return stdout.trim()
  } catch (error) {
    const { stderr } = error as { stderr?: string }
    const reason =
      stderr?.match(/^npm error (?!code|errno|syscall)(.+)$/m)?.[1] ?? (error as Error).message.split('\n')[0]
    throw new Error(`npx could not run ${packages.join(', ')}: ${reason}`, { cause: error })
  }
}
