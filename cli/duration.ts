import { misused } from './failure.ts'

const unitMilliseconds: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Reads a duration as people write it, for instance `90s`, `10m`, `2h` or `1d`.
 * @returns milliseconds
 * @throws Failure when the text is not a duration
 */
export function readDuration(text: string): number {
  const [, figure, unit = 's'] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/.exec(text.trim()) ?? []
  if (figure !== undefined) return Number(figure) * unitMilliseconds[unit]!
  throw misused(`"${text}" is not a duration: write it as 90s, 10m, 2h or 1d`)
}

/**
 * Reads a point in time as people write it: a date, or a duration before now.
 * @throws Failure when the text is neither
 */
export function readMoment(text: string): Date {
  if (/^\d+(\.\d+)?\s*(ms|s|m|h|d)$/.test(text.trim())) return new Date(Date.now() - readDuration(text))
  const time = new Date(text)
  if (!Number.isNaN(time.getTime()) && /^\d{4}-/.test(text)) return time
  throw misused(`"${text}" is not a time: write it as 10m for ten minutes ago, or as ${new Date().toISOString()}`)
}
