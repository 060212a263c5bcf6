#!/usr/bin/env node
// Plain JavaScript for any Node since 14: it finds the Node version that the rest of this folder needs.
import { spawn } from 'node:child_process'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import {
  describeOtherNode,
  findInstalledNode,
  howToInstallNode,
  isNeededNode,
  isNodeTooOld,
} from '../shared/process/needed-node.js'

const installed = isNeededNode() ? undefined : findInstalledNode()
if (installed !== undefined) runWith(installed)
else if (isNodeTooOld()) fail({ stack: `${describeOtherNode()} ${howToInstallNode()}` })
else {
  // Before the first TypeScript module: loading what strips its types takes half of the time of a short command.
  module.enableCompileCache()
  import('./main.ts').catch(fail)
}

/** Runs the command line in another Node: passes on arguments, terminal and signals, and returns its exit code. */
function runWith(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  const isAtTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both processes; a forwarded copy could count as a second Ctrl-C, which ends at once.
      if (signal !== 'SIGINT' || !isAtTerminal) child.kill(signal)
    })
  }
  child.on('error', fail)
  child.on('exit', (code, signal) => {
    if (!signal) return process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

function fail({ stack }) {
  console.error(stack)
  process.exitCode = 1
}
