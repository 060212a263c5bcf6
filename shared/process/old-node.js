// Plain JavaScript that any Node since 14 can run.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Node's major version that everything here needs. */
export const neededMajor = 24

/**
 * Whether the Node that runs this is older than what is needed. If so, says which is, and how to get it, and has the
 * process end with 1.
 *
 * @param {string} script what was started, as people name it
 * @returns {boolean}
 */
export function isOldNode(script) {
  if (Number(process.versions.node.split('.')[0]) >= neededMajor) return false
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
  const own = join('node_modules', '.bin', 'node')
  const remedy = existsSync(join(root, own))
    ? `\`npm ci\` has brought one: ${own} ${script}`
    : `Install it, or run \`npm ci\` in ${root}, which brings one: ${own} ${script}`
  process.stderr.write(`This is Node ${process.versions.node}, and Isobot needs Node ${neededMajor}. ${remedy}\n`)
  process.exitCode = 1
  return true
}
