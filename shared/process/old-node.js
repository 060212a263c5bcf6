// Plain JavaScript that any Node since 14 can run.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Minimum major version of Node. */
export const neededMajor = 24

/**
 * Whether the running Node is older than the minimum. If so, prints the required version and how to get it, and sets
 * the exit code to 1.
 *
 * @param {string} script name of the started script, as users type it
 * @returns {boolean}
 */
export function isOldNode(script) {
  if (Number(process.versions.node.split('.')[0]) >= neededMajor) return false
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
  const own = join('node_modules', '.bin', 'node')
  const remedy = existsSync(join(root, own))
    ? `\`npm ci\` has installed it: ${own} ${script}`
    : `Install it, or run \`npm ci\` in ${root}, which installs it as ${own}: ${own} ${script}`
  process.stderr.write(`This is Node ${process.versions.node}, and Isobot needs Node ${neededMajor}. ${remedy}\n`)
  process.exitCode = 1
  return true
}
