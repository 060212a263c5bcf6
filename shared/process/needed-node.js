// Plain JavaScript that any Node since 14 can run.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The major version of Node that runs the platform. An older one lacks what the code uses; a newer one has another V8, on
 * which limits of code are not tested: some of them fail on Node 26.
 */
const neededMajor = 24

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** Whether the running Node has the needed major version. */
export function isNeededNode() {
  return majorOf(process.versions.node) === neededMajor
}

/** Whether the running Node is older, so that it does not even load the code. */
export function isNodeTooOld() {
  return majorOf(process.versions.node) < neededMajor
}

/**
 * The Node that npm has installed with Isobot: the package `node` of the repository, which an install script fetches, or the
 * package for this machine on which the published one depends, since npm may block install scripts.
 *
 * @returns {string | undefined} path of the program; undefined when there is none of the needed version
 */
export function findInstalledNode() {
  for (const name of ['node', nodePackage()]) {
    try {
      const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
      const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
      const program = join(dirname(manifest), 'bin', 'node')
      if (majorOf(version) === neededMajor && existsSync(program)) return program
    } catch {
      // Not installed.
    }
  }
  return undefined
}

/** The package that has Node for this machine, without an install script. */
function nodePackage() {
  const { platform, arch } = process
  return `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}`
}

/** @param {string} version */
function majorOf(version) {
  return Number(version.split('.')[0])
}

/** Names the running Node and the needed one. */
export function describeOtherNode() {
  return `This is Node ${process.versions.node}, and Isobot needs Node ${neededMajor}.`
}

/** How to get the needed Node. */
export function howToInstallNode() {
  // Only the repository has the lock file.
  return existsSync(join(root, 'package-lock.json'))
    ? `Install it, or run \`npm ci\` in ${root}, which installs it`
    : `Install it, or run \`npm install ${nodePackage()}@${neededMajor}\` beside Isobot`
}

/**
 * Refuses to run a program of the platform on another major version of Node: prints the needed one and how to get it, and
 * sets the exit code to 1.
 *
 * @param {string} script name of the started script, as users type it
 * @returns {boolean} whether it refuses
 */
export function refusesNode(script) {
  if (isNeededNode()) return false
  const own = join('node_modules', '.bin', 'node')
  const installed = findInstalledNode()
  const remedy =
    installed === undefined
      ? `${howToInstallNode()} as ${own}: ${own} ${script}`
      : `npm has installed it: ${existsSync(join(root, own)) ? own : installed} ${script}`
  process.stderr.write(`${describeOtherNode()} ${remedy}\n`)
  process.exitCode = 1
  return true
}
