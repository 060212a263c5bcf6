import { signal } from '@preact/signals'

/** The current time, updated as often as relative times need it. */
export const now = signal(Date.now())
setInterval(() => (now.value = Date.now()), 5000)

const steps: [limit: number, seconds: number, unit: string][] = [
  [60, 1, 's'],
  [3600, 60, 'min'],
  [86_400, 3600, 'h'],
  [86_400 * 30, 86_400, 'd'],
  [86_400 * 365, 86_400 * 30, 'mo'],
  [Infinity, 86_400 * 365, 'y'],
]

const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const count = new Intl.NumberFormat('en')

/** "5 min ago", "in 3 h", "now". */
export function formatRelative(iso: string, at: number): string {
  const seconds = (Date.parse(iso) - at) / 1000
  const distance = Math.abs(seconds)
  if (distance < 5) return 'now'
  const [, size, unit] = steps.find(([limit]) => distance < limit)!
  const amount = `${Math.floor(distance / size)} ${unit}`
  return seconds < 0 ? `${amount} ago` : `in ${amount}`
}

const moment = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** "Nov 22, 02:54". */
export function formatMoment(iso: string): string {
  return moment.format(new Date(iso))
}

export function formatAbsolute(iso: string): string {
  return absolute.format(new Date(iso))
}

/** A whole day or month in UTC, in which usage is counted. */
export type Span = 'day' | 'month'

const spans: Record<Span, Intl.DateTimeFormat> = {
  day: new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' }),
  month: new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' }),
}

/** "Nov 22" or "Nov 2026", wherever the browser is. */
export function formatSpan(iso: string, span: Span): string {
  return spans[span].format(new Date(iso))
}

/** The time of day with milliseconds, for log lines. */
export function formatClock(iso: string): string {
  const date = new Date(iso)
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()]
  const digits = clock.map((value) => String(value).padStart(2, '0')).join(':')
  return `${digits}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** "0.4 ms", "12 ms", "1.2 s", "3 min": three digits at most. */
export function formatMilliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  if (value < 10) return `${Number(value.toFixed(1))} ms`
  if (value < 1000) return `${Math.round(value)} ms`
  if (value < 60_000) return `${Number((value / 1000).toFixed(value < 10_000 ? 1 : 0))} s`
  if (value < 3_600_000) return `${Math.round(value / 60_000)} min`
  return `${Number((value / 3_600_000).toFixed(1))} h`
}

/** "0 B", "12 KB", "3.4 MB": powers of 1024. */
export function formatBytes(value: number | null): string {
  if (value === null) return '–'
  const power = Math.min(3, Math.floor(Math.log2(Math.max(1, value)) / 10))
  const amount = value / 1024 ** power
  return `${Number(amount.toFixed(amount < 10 && power > 0 ? 1 : 0))} ${['B', 'KB', 'MB', 'GB'][power]}`
}

export function formatCount(value: number): string {
  return count.format(value)
}

/** A fraction of one as a percentage, with a decimal digit for small values. */
export function formatShare(value: number | null): string {
  if (value === null) return '–'
  if (value === 0) return '0 %'
  const percent = value * 100
  return percent < 0.1 ? '< 0.1 %' : `${percent < 10 ? Number(percent.toFixed(1)) : Math.round(percent)} %`
}

/** The end of an id, by which people distinguish it from others. */
export function shortId(id: string): string {
  const start = id.indexOf('_') + 1
  return `${id.slice(0, start)}…${id.slice(-6)}`
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}
