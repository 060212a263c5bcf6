import { closedObject } from '../schema.ts'
import { ApiError } from '../errors.ts'

/** The schedule of a message or an event, as operations receive it. */
export const scheduleInput = {
  ...closedObject(
    {},
    {
      dateTime: { type: 'string', format: 'date-time', maxLength: 28, description: 'The time, ISO 8601.' },
      delay: { type: 'integer', minimum: 0, description: 'Milliseconds from now, instead of dateTime.' },
    },
  ),
  description: 'The time of the event: either dateTime or delay.',
} as const

/** A schedule that is further ahead is refused, as a probable mistake of units. */
const maxDelayMilliseconds = 366 * 24 * 60 * 60 * 1000

/**
 * The time at which a schedule is due. A past time is due at once.
 *
 * @param now by the clock of PostgreSQL, which decides when it is due
 * @throws ApiError `InvalidPayload` when the schedule has neither or both of its fields, or is too far ahead
 */
export function scheduledTime(schedule: { dateTime?: string; delay?: number }, now: Date): Date {
  const { dateTime, delay } = schedule
  if ((dateTime === undefined) === (delay === undefined)) {
    throw new ApiError('InvalidPayload', 'schedule must have either dateTime or delay')
  }
  const milliseconds = dateTime === undefined ? now.getTime() + delay! : Date.parse(dateTime)
  if (milliseconds - now.getTime() > maxDelayMilliseconds) {
    throw new ApiError('InvalidPayload', 'schedule is more than a year ahead: choose an earlier time')
  }
  return new Date(milliseconds)
}
