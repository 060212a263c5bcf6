import { misused } from './failure.ts'

/** Reads the number of `-n`. @throws Failure when it is none above 0 */
export function readCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw misused(`-n takes a number above 0, not "${text}"`)
}
