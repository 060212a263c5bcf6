/**
 * The program that runs scripts. It receives tasks over descriptor 3, a line of JSON for each, one at a time, and replies
 * there with a line of JSON for each.
 */

import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { execute } from '@bpinternal/verel'
import type { ScriptOutcome } from '../contract.ts'

const reasonCharacters = 1000

const channel = new Socket({ fd: 3 })
createInterface({ input: channel }).on('line', (line) => channel.write(`${JSON.stringify(run(line))}\n`))

function run(line: string): ScriptOutcome {
  const { script, input } = JSON.parse(line) as { script: string; input: object }
  try {
    const { result } = execute(script, input)
    return { status: 'completed', result }
  } catch (error) {
    // A failure of the interpreter itself leaves its memory in any state.
    if (error instanceof Error && error.name === 'RuntimeError') throw error
    return {
      status: 'failed',
      reason: (error instanceof Error ? error.message : String(error)).slice(0, reasonCharacters),
    }
  }
}
