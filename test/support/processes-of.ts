import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Finds the processes that were started for a folder, by their command lines and environments. */
export async function processesOf(folder: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,args=', '--no-headers', 'e', 'ww'], {
    maxBuffer: 1 << 26,
  })
  return stdout.split('\n').filter((line) => line.includes(folder) && !line.includes('ps -eo'))
}
