import type { Hostile } from './hostile.ts'

type End = Pick<Hostile, 'outcome' | 'failure' | 'upload'>

/** For what goes on without end: it has little processor time, and its neighbours lose little. */
export const outOfTime: End = {
  outcome: 'cpu',
  failure: /It used more than its 150 ms of processor time/,
  upload: { limits: { cpuMilliseconds: 150 } },
}

/** For what takes memory without end: it has a small heap, and enough time to fill that on a busy machine. */
export const outOfMemory: End = {
  outcome: 'memory',
  failure: /It used more than its 16 MB of memory/,
  upload: { limits: { memoryMegabytes: 16, cpuMilliseconds: 5000 } },
}

/** For what has to come to an end by itself, and takes long on a busy machine. */
export const withTime: Pick<Hostile, 'upload'> = {
  upload: { limits: { cpuMilliseconds: 5000 } },
}
