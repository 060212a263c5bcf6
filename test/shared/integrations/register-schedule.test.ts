import { describe, expect, test } from 'vitest'
import { longestPeriods, nextTime } from '#shared/integrations/register-schedule.ts'
import { schedules, type Schedule } from '#shared/models/tables.ts'

/** The times that follow one after the other, `now` being each in turn. */
function times(schedule: Schedule, from: string, count: number): string[] {
  const found: string[] = []
  for (let now = new Date(from); found.length < count; now = new Date(found.at(-1)!)) {
    found.push(nextTime(schedule, new Date(from), now).toISOString())
  }
  return found
}

/** `2027-01-31T09:30:00.250Z` for a day of a table below. */
const at = (day: string) => `${day}T09:30:00.250Z`

test.each<[Schedule, string, string[]]>([
  ['hourly', '2026-12-31T22:30:00.000Z', ['2026-12-31T23:30:00.000Z', '2027-01-01T00:30:00.000Z']],
  // Where summer time begins in many places: a day is 24 hours all the same.
  ['daily', at('2027-03-27'), [at('2027-03-28'), at('2027-03-29')]],
  ['weekly', at('2028-02-24'), [at('2028-03-02'), at('2028-03-09')]],
  ['bi-weekly', at('2026-12-20'), [at('2027-01-03'), at('2027-01-17')]],
  ['monthly', at('2026-11-15'), [at('2026-12-15'), at('2027-01-15'), at('2027-02-15')]],
  ['monthly', at('2027-01-31'), [at('2027-02-28'), at('2027-03-31'), at('2027-04-30'), at('2027-05-31')]],
  ['monthly', at('2028-01-30'), [at('2028-02-29'), at('2028-03-30')]],
  ['monthly', at('2027-02-28'), [at('2027-03-28'), at('2027-04-28')]],
  ['bi-monthly', at('2026-12-31'), [at('2027-02-28'), at('2027-04-30'), at('2027-06-30'), at('2027-08-31')]],
  ['quarterly', at('2027-08-31'), [at('2027-11-30'), at('2028-02-29'), at('2028-05-31')]],
  ['yearly', at('2028-02-29'), [at('2029-02-28'), at('2030-02-28'), at('2031-02-28'), at('2032-02-29')]],
  // 2100 is no leap year.
  ['yearly', at('2096-02-29'), [at('2097-02-28'), at('2098-02-28'), at('2099-02-28'), at('2100-02-28')]],
])('%s from %s is due at the times of the table', (schedule, from, expected) => {
  expect(times(schedule, from, expected.length)).toEqual(expected)
})

test.each<[Schedule, string, string]>([
  ['hourly', '2027-06-01T12:00:00.000Z', '2027-06-01T12:30:00.250Z'],
  ['bi-weekly', '2027-06-01T12:00:00.000Z', '2027-06-06T09:30:00.250Z'],
  ['monthly', '2027-06-30T09:30:00.249Z', '2027-06-30T09:30:00.250Z'],
  ['monthly', '2027-06-30T09:30:00.250Z', '2027-07-31T09:30:00.250Z'],
  ['quarterly', '2027-06-01T12:00:00.000Z', '2027-07-31T09:30:00.250Z'],
  ['yearly', '2027-06-01T12:00:00.000Z', '2028-01-31T09:30:00.250Z'],
])('%s is not made up for: long after its times it is due at the next of them', (schedule, now, expected) => {
  const from = new Date('2027-01-31T09:30:00.250Z')
  expect(nextTime(schedule, from, new Date(now)).toISOString()).toBe(expected)
})

describe.each(schedules)('%s', (schedule) => {
  /** The same moments at every run: days of all months, leap years and others, before and after each other. */
  const moments = Array.from({ length: 400 }, (_, index) => new Date(Date.UTC(2024, 0, 1) + index * 13_456_789_012))

  test('is due after now, within a period, whichever came first, the setting or now', () => {
    for (const from of moments.slice(0, 40)) {
      for (const now of moments) {
        const wait = nextTime(schedule, from, now).getTime() - now.getTime()
        expect(wait, `${from.toISOString()} ${now.toISOString()}`).toBeGreaterThan(0)
        expect(wait, `${from.toISOString()} ${now.toISOString()}`).toBeLessThanOrEqual(longestPeriods[schedule])
      }
    }
  })

  test('leaves no time out, and none comes twice, at whichever moments it is worked out', () => {
    for (const from of moments.slice(0, 40)) {
      const all = times(schedule, from.toISOString(), 30)
      expect(all).toEqual([...new Set(all)].toSorted())
      for (const [index, time] of all.slice(1).entries()) {
        const [before, following] = [new Date(all[index]!), new Date(time)]
        const between = new Date((before.getTime() + following.getTime()) / 2)
        const justBefore = new Date(following.getTime() - 1)
        for (const now of [before, between, justBefore]) expect(nextTime(schedule, from, now)).toEqual(following)
      }
    }
  })

  test('takes no longer than its longest period, and reaches it', () => {
    const from = new Date('2024-01-31T00:00:00.000Z')
    const all = times(schedule, from.toISOString(), 60).map((time) => Date.parse(time))
    const waits = all.slice(1).map((time, index) => time - all[index]!)
    expect(Math.max(...waits)).toBe(longestPeriods[schedule])
  })
})
