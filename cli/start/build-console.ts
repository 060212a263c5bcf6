import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isPackaged } from '#shared/process/is-packaged.ts'
import { isBuilt, root } from '../../api/console/output.ts'

/**
 * Builds the console in a separate process if its output is absent or older than its sources; the published package has
 * it built. Never rejects: the rest of the platform works without the console, and a failure is reported with its remedy.
 */
export async function buildConsole(say: (line: string) => void, signal: AbortSignal): Promise<void> {
  if (isPackaged) return
  try {
    if (await isBuilt()) return
    say('Building the console, as after each installation or update …')
    await promisify(execFile)(process.execPath, [join('api', 'console', 'build.ts')], { cwd: root, signal })
  } catch (error) {
    if (signal.aborted) return
    const { stderr = '', message } = error as Error & { stderr?: string }
    const reason = /^\w*Error.*$/m.exec(stderr)?.[0] ?? message
    say(`The console is not built and /console answers 404: ${reason}\n"npm run build" shows the whole error.`)
  }
}
