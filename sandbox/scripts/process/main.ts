/**
 * The program that runs scripts. Over descriptor 3 it sends a line when it has started, receives tasks, a line of JSON for
 * each, one at a time, and replies with a line of JSON for each.
 */

import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { check, execute, type CompilationDiagnostic } from '@bpinternal/verel'
import type { ScriptCompilation, ScriptOutcome } from '../contract.ts'
import type { Reply, Task } from './frames.ts'

const reasonCharacters = 1000
const messageCharacters = 300

const channel = new Socket({ fd: 3 })
// Loads the interpreter, whose time is not that of the first script.
execute('null', {})
send({ outcome: { status: 'completed', result: null } })
createInterface({ input: channel }).on('line', (line) => send(reply(JSON.parse(line) as Task)))

function send(reply: Reply<ScriptOutcome | ScriptCompilation>): void {
  channel.write(`${JSON.stringify(reply)}\n`)
}

function reply(task: Task): Reply<ScriptOutcome | ScriptCompilation> {
  try {
    return { outcome: 'input' in task ? run(task.script, task.input) : compile(task.script) }
  } catch (error) {
    if (!isBreakage(error)) throw error
    const reason =
      'The script exceeds the memory of the interpreter: it is nested too deep, or makes values that are too large'
    return { outcome: { status: 'failed', reason }, isBroken: true }
  }
}

/** Whether an error is a failure of the interpreter itself, which leaves its memory in any state. */
function isBreakage(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof Error && error.name === 'RuntimeError')
}

function run(script: string, input: object): ScriptOutcome {
  try {
    const { result } = execute(script, input)
    return { status: 'completed', result }
  } catch (error) {
    if (isBreakage(error)) throw error
    return {
      status: 'failed',
      reason: (error instanceof Error ? error.message : String(error)).slice(0, reasonCharacters),
    }
  }
}

function compile(script: string): ScriptCompilation {
  const faults = check(script).errors.map((diagnostic) => ({ diagnostic, at: startOf(diagnostic) }))
  const [first] = faults.toSorted((one, other) => one.at - other.at)
  if (!first) return { status: 'compiled' }
  const { diagnostic, at } = first
  const message = messageOf(diagnostic).slice(0, messageCharacters)
  return { status: 'faulty', ...positionIn(script, at), message, faults: faults.length }
}

function startOf({ labels }: CompilationDiagnostic): number {
  const { span: [start] = [0] } = labels.find(({ primary }) => primary) ?? labels[0] ?? {}
  return start
}

/** For instance `syntax error (unexpected syntax token: "RBrace")`. */
function messageOf({ message, labels }: CompilationDiagnostic): string {
  const detail = labels.find(({ primary }) => primary)?.message
  return detail ? `${message} (${detail})` : message
}

/** @param start in bytes, as the compiler counts */
function positionIn(script: string, start: number): { line: number; column: number } {
  const lines = Buffer.from(script).subarray(0, start).toString().split('\n')
  return { line: lines.length, column: lines.at(-1)!.length + 1 }
}
