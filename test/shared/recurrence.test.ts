import { expect, test } from 'vitest'
import { firstOccurrence, nextOccurrence } from '#shared/recurrence.ts'
import { scheduledTime } from '#shared/messaging/schedule.ts'

test.each([
  ['*/15 * * * *', '2026-11-21T10:14:59.999Z', '2026-11-21T10:15:00.000Z'],
  ['*/15 * * * *', '2026-11-21T10:15:00.000Z', '2026-11-21T10:30:00.000Z'],
  ['0 9 * * 1-5', '2026-11-20T09:00:00.000Z', '2026-11-23T09:00:00.000Z'],
  ['0 0 31 * *', '2026-01-31T00:00:00.000Z', '2026-03-31T00:00:00.000Z'],
  ['0 0 29 2 *', '2026-01-01T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
  ['@daily', '2026-12-31T23:59:59.000Z', '2027-01-01T00:00:00.000Z'],
  // Clocks are put forward in Berlin at that time, in UTC they are not.
  ['30 2 * * *', '2026-03-28T02:30:00.000Z', '2026-03-29T02:30:00.000Z'],
])('%s after %s is %s', (cron, after, next) => {
  expect(nextOccurrence(cron, new Date(after)).toISOString()).toBe(next)
})

test.each(['', 'tomorrow', '* * * *', '* * * * * *', '@secondly', '60 * * * *', '0 0 30 2 *', '0 0 * * mo'])(
  '%j is refused',
  (cron) => {
    expect(() => nextOccurrence(cron, new Date())).toThrowError(expect.objectContaining({ type: 'InvalidPayload' }))
  },
)

test('a new schedule has a time within ten years, a leap day for instance, or is refused', () => {
  const after = new Date('2096-03-01T00:00:00.000Z')
  expect(firstOccurrence('0 0 29 2 *', after).toISOString()).toBe('2104-02-29T00:00:00.000Z')
  const message = "'0 0 30 2 1#5' is not a useful cron expression: no time in 10 years fits"
  expect(() => firstOccurrence('0 0 30 2 1#5', new Date('2026-11-30T00:00:00.000Z'))).toThrow(message)
})

test('a number that the parser chooses is the same each time, so that a daily event comes once a day', () => {
  const times = [new Date('2026-11-21T10:00:00Z')]
  for (let count = 0; count < 10; count++) times.push(nextOccurrence('H H * * *', times.at(-1)!))
  const distances = times.slice(2).map((time, index) => time.getTime() - times[index + 1]!.getTime())
  expect(new Set(distances)).toEqual(new Set([24 * 3600 * 1000]))
})

test('a schedule is a time or a delay', () => {
  const now = new Date('2026-11-21T10:00:00Z')
  expect(scheduledTime({ delay: 1500 }, now)).toEqual(new Date('2026-11-21T10:00:01.500Z'))
  expect(scheduledTime({ dateTime: '2026-11-22T10:00:00+01:00' }, now)).toEqual(new Date('2026-11-22T09:00:00Z'))
})
