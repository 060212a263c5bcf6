import { expect, test } from 'vitest'
import { detectIsolation } from '#sandbox/isolation/detect-isolation.ts'
import { nodeProgram } from '#sandbox/programs/node-program.ts'
import { hasNotStarted, isOverCpu } from '#sandbox/programs/outcome.ts'
import { runProgram } from '#sandbox/programs/run-program.ts'

test('a program that exceeds its processor time is reported as killed, in whichever layers it runs', async () => {
  const outer = { profile: 'hardened', require: [], log() {} } as const
  for (const isolation of [await detectIsolation(outer), await detectIsolation({ ...outer, tools: {} })]) {
    const limits = { wallMilliseconds: 30_000, dataKilobytes: 1024 * 1024, outputBytes: 1000 }
    const program = nodeProgram({ cpuSeconds: 1, heapMegabytes: 64 })
    const ended = await runProgram(isolation, program, { stdin: 'for (;;);' }, limits, new AbortController().signal)

    expect(ended).toMatchObject({ wasKilled: true, complaint: '' })
    expect(hasNotStarted(ended)).toBe(false)
    expect(isOverCpu(ended, { seconds: 1 })).toBe(true)
  }
})
