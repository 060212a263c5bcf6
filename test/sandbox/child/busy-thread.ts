/**
 * A program of its own: holds isolates as a sandbox process does, is given some runs at once, and is busy with something
 * else while their isolate works. Says how each run ended.
 */

import { text } from 'node:stream/consumers'
import { findAddon } from '#sandbox/isolation/addon.ts'
import { loadIsolatedVm } from '#sandbox/child/isolated-vm.ts'
import { ProcessSandbox } from '#sandbox/child/sandbox.ts'
import { Scripts } from '#sandbox/child/scripts.ts'
import type { FromProcess } from '#sandbox/host/frames.ts'
import type { BusyThread } from './busy-thread.test.ts'

const { programs, source, first, runs, busyMilliseconds } = JSON.parse(await text(process.stdin)) as BusyThread
const ivm = loadIsolatedVm(findAddon())
const scripts = new Scripts({ ivm, ...programs, operations: [] })
const ends = new Map<string, string>()

const sandbox = new ProcessSandbox({ ivm, scripts, softBytes: 480_000_000, isolates: 10, send })
sandbox.receive(first)

function send(frame: FromProcess): void {
  if (frame.type === 'code') sandbox.receive({ type: 'code', bundle: frame.bundle, source })
  if (frame.type !== 'done' && frame.type !== 'failed' && frame.type !== 'interrupted') return
  if (frame.run === first.run) setImmediate(workOn)
  ends.set(frame.run, frame.type === 'failed' ? frame.reason : frame.type)
  if (ends.size <= runs.length) return
  process.stdout.write(JSON.stringify(runs.map(({ run }) => ends.get(run))))
  process.exit()
}

function workOn(): void {
  for (const run of runs) sandbox.receive(run)
  const end = performance.now() + busyMilliseconds
  while (performance.now() < end);
}
