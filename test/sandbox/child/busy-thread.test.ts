import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Limits } from '#sandbox/protocol/contract.ts'
import { bundlePrograms, type Programs } from '#sandbox/host/programs.ts'
import type { BundleSource, ToProcess } from '#sandbox/protocol/protocol.ts'
import { runHandle } from '#sandbox/host/run-handle.ts'
import { botThat, messageRun } from '../fixture.ts'

type RunFrame = Extract<ToProcess, { type: 'run' }>

export interface BusyThread {
  programs: Programs
  source: BundleSource
  first: RunFrame
  runs: RunFrame[]
  /** For so long the thread that tells runs apart hears nothing of them. */
  busyMilliseconds: number
}

const program = join(import.meta.dirname, 'busy-thread.ts')

/** How runs of one isolate end of which its process hears when they are through; one for each preview. */
async function endsOf(body: string, previews: string[], limits: Partial<Limits>): Promise<string[]> {
  const bundle = botThat(body)
  const begin = (preview: string) =>
    runHandle(messageRun(bundle, { event: { preview }, limits }), () => {}).begin() as RunFrame
  const { kind = 'native', code, environment = {} } = bundle
  const input: BusyThread = {
    programs: await bundlePrograms(),
    source: { kind, code, environment, modules: [] },
    first: begin(''),
    runs: previews.map(begin),
    busyMilliseconds: 600,
  }
  const options = { input: JSON.stringify(input), encoding: 'utf8', timeout: 20_000 } as const
  const { stdout, stderr } = spawnSync(process.execPath, ['--no-node-snapshot', program], options)
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as string[]
}

test('no run fails for the processor time of later runs whose start its process has not processed yet', async () => {
  const body = `const end = Date.now() + Number(event.preview); while (Date.now() < end);`
  const previews = Array.from({ length: 15 }, () => '20')
  const ends = await endsOf(body, previews, { cpuMilliseconds: 150 })
  expect(ends).toEqual(previews.map(() => 'done'))
})

test('no run fails for the memory of a later run whose start its process has not processed yet', async () => {
  const body = `
    if (event.preview === '') return
    if (event.preview !== 'takes all') await new Promise(() => {})
    for (const all = []; ; ) all.push(new Array(50_000).fill(1))`
  const ends = await endsOf(body, ['waits', 'takes all', 'comes later'], {
    cpuMilliseconds: 10_000,
    memoryMegabytes: 16,
  })
  expect(ends).toEqual(['interrupted', 'memory', 'interrupted'])
})
