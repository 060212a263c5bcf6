import type { Schedule } from '../models/tables.ts'

const hour = 60 * 60 * 1000
const day = 24 * hour

/** Each schedule repeats after a fixed time, or after a number of calendar months. */
const periods: Record<Schedule, { milliseconds: number } | { months: number }> = {
  hourly: { milliseconds: hour },
  daily: { milliseconds: day },
  weekly: { milliseconds: 7 * day },
  'bi-weekly': { milliseconds: 14 * day },
  monthly: { months: 1 },
  'bi-monthly': { months: 2 },
  quarterly: { months: 3 },
  yearly: { months: 12 },
}

/**
 * The longest interval between two times of a schedule, in milliseconds; for several months, that of the longest
 * sequence.
 */
export const longestPeriods: Record<Schedule, number> = {
  hourly: hour,
  daily: day,
  weekly: 7 * day,
  'bi-weekly': 14 * day,
  monthly: 31 * day,
  'bi-monthly': 62 * day,
  quarterly: 92 * day,
  yearly: 366 * day,
}

/**
 * The first time after `now` at which a schedule is due. Missed times are skipped.
 *
 * Months and years are those of the calendar in UTC and keep the day of `from`; in a month without that day, the last
 * day is due. Each time is counted from `from`, not from the previous time, so that 31 January is followed by 28
 * February and then by 31 March.
 *
 * @param from when the schedule was set. It may lie after `now`, if a clock was set back: then times before it count
 *   too, so that the next one is never more than one period ahead
 */
export function nextTime(schedule: Schedule, from: Date, now: Date): Date {
  const period = periods[schedule]
  if ('milliseconds' in period) {
    const elapsed = Math.floor((now.getTime() - from.getTime()) / period.milliseconds)
    return new Date(from.getTime() + (elapsed + 1) * period.milliseconds)
  }
  const elapsed = Math.floor(monthsBetween(from, now) / period.months)
  const inThisPeriod = addMonths(from, elapsed * period.months)
  return inThisPeriod > now ? inThisPeriod : addMonths(from, (elapsed + 1) * period.months)
}

/** The number of month boundaries from one time to another. */
function monthsBetween(from: Date, to: Date): number {
  return (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth()
}

/** The same day of another month, or that month's last, at the same time of the day. */
function addMonths(from: Date, months: number): Date {
  const date = new Date(from)
  date.setUTCMonth(from.getUTCMonth() + months, 1)
  date.setUTCDate(Math.min(from.getUTCDate(), daysInMonth(date)))
  return date
}

function daysInMonth(date: Date): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
}
