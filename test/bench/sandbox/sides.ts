import type { ForkOptions } from 'node:child_process'
import { startAskedProcess, type AskedProcess } from '../asked-process.ts'
import { findDeno } from './find-deno.ts'
import type { Figure, Question } from './measure.ts'
import { residentMegabytes } from './resident.ts'

/** In the order of the table's columns. */
export const sideNames = ['ours', 'deno', 'bare'] as const
export type SideName = (typeof sideNames)[number]

export interface Side {
  ask(question: Question): Promise<number>
  /** Resident memory of the process that holds the bots. Undefined on systems that do not report it. */
  megabytes(): Promise<number | undefined>
}

/** The program of a side's process. */
export interface Program {
  script: string
  options: ForkOptions
  /** Whether a child of the process holds the bots. */
  isBelow: boolean
}

/** The sides that this machine can measure. */
export type Programs = { [Name in Exclude<SideName, 'deno'>]: Program } & { deno?: Program }

/** Finds the programs of the sides; `withoutDeno` gives the reason if Deno is missing. */
export async function findPrograms(): Promise<{ programs: Programs; withoutDeno?: string }> {
  const programs: Programs = {
    ours: { script: './ours.ts', options: {}, isBelow: true },
    bare: { script: './bare-isolates.ts', options: { execArgv: ['--no-node-snapshot'] }, isBelow: false },
  }
  try {
    const options = { execPath: await findDeno(), execArgv: denoArguments }
    return { programs: { ...programs, deno: { script: './deno.ts', options, isBelow: false } } }
  } catch (error) {
    return { programs, withoutDeno: (error as Error).message }
  }
}

/** The program that holds the workers has all permissions; the workers have none. */
const denoArguments = ['run', '--allow-all', '--no-config', '--no-lock', '--quiet', '--unstable-worker-options']

/** Starts a process of a side, which ends with `parts`. */
export function startSide(name: string, { script, options, isBelow }: Program, parts: AsyncDisposableStack): Side {
  const url = new URL(script, import.meta.url)
  const process: AskedProcess<Question, Figure> = startAskedProcess(name, url, parts, options)
  return {
    ask: async (question) => (await process.ask(question)).figure,
    megabytes: () => residentMegabytes(process.pid, { isBelow }),
  }
}
