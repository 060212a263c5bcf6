import type { Limits } from './contract.ts'

/** The lines that a run has logged, dropped ones included. */
export interface Logged {
  lines: number
  characters: number
}

/** The line that reports the cut is granted on top of the limits. */
const cutLine: Logged = { lines: 1, characters: 200 }

/** Counts a line; returns whether it is within the limits. The worker and its sandbox processes count alike. */
export function takesLine(logged: Logged, limits: Limits, message: string): boolean {
  logged.lines += 1
  logged.characters += message.length
  if (logged.lines > limits.logLines + cutLine.lines) return false
  return logged.characters <= limits.logCharacters + cutLine.characters
}
