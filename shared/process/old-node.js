// Plain JavaScript that any Node since 14 can run.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Minimum major version of Node. */
export const neededMajor = 24

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** Whether the running Node is older than the minimum. */
export function isNodeTooOld() {
  return majorOf(process.versions.node) < neededMajor
}

/**
 * The Node that npm has installed with Isobot, from the package `node`.
 *
 * @returns {string | undefined} path of the program; undefined when there is none that is new enough
 */
export function findInstalledNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve('node/package.json')
    const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
    const program = join(dirname(manifest), 'bin', 'node')
    return majorOf(version) >= neededMajor && existsSync(program) ? program : undefined
  } catch {
    return undefined
  }
}

/** @param {string} version */
function majorOf(version) {
  return Number(version.split('.')[0])
}

/** How to get a Node that is new enough. */
export function howToInstallNode() {
  // Only the repository has the lock file.
  return existsSync(join(root, 'package-lock.json'))
    ? `Install it, or run \`npm ci\` in ${root}, which installs it`
    : `Install it, or run \`npm install node@${neededMajor}\` beside Isobot`
}

/**
 * Whether the running Node is older than the minimum. If so, prints the required version and how to get it, and sets
 * the exit code to 1.
 *
 * @param {string} script name of the started script, as users type it
 * @returns {boolean}
 */
export function isOldNode(script) {
  if (!isNodeTooOld()) return false
  const own = join('node_modules', '.bin', 'node')
  const installed = findInstalledNode()
  const command = existsSync(join(root, own)) ? own : installed
  const remedy =
    command === undefined
      ? `${howToInstallNode()} as ${own}: ${own} ${script}`
      : `npm has installed it: ${command} ${script}`
  process.stderr.write(`This is Node ${process.versions.node}, and Isobot needs Node ${neededMajor}. ${remedy}\n`)
  process.exitCode = 1
  return true
}
