#!/usr/bin/env node
// Plain JavaScript for any Node since 14: it finds the Node version that the rest of this folder needs.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const neededMajor = 24
const folder = dirname(fileURLToPath(import.meta.url))

if (Number(process.versions.node.split('.')[0]) >= neededMajor) {
  import('./main.ts').catch(reportAndFail)
} else {
  const own = join(folder, '..', 'node_modules', 'node', 'bin', 'node')
  if (existsSync(own)) runWith(own)
  else
    fail(
      `This is Node ${process.versions.node}, and isobot needs ${neededMajor}. Run \`npm ci\` in ${dirname(folder)}, which installs it`,
    )
}

/** Runs the command line in another Node: passes on arguments, terminal and signals, and returns its exit code. */
function runWith(node) {
  const child = spawn(node, [join(folder, 'main.ts'), ...process.argv.slice(2)], { stdio: 'inherit' })
  const isAtTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both processes; a forwarded copy could count as a second Ctrl-C, which ends at once.
      if (signal !== 'SIGINT' || !isAtTerminal) child.kill(signal)
    })
  }
  child.on('error', reportAndFail)
  child.on('exit', (code, signal) => {
    if (!signal) return process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

function reportAndFail(error) {
  if (error.code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING') {
    fail('isobot runs from a clone of its repository: clone it, run `npm ci` and `npm link` there')
  } else fail(error.stack)
}

function fail(message) {
  console.error(message)
  process.exitCode = 1
}
