import { closedObject } from '../schema.ts'
import { ApiError } from '../errors.ts'

/** When something is to happen, as operations take it. */
export const scheduleInput = {
  ...closedObject(
    {},
    {
      dateTime: { type: 'string', format: 'date-time', maxLength: 28, description: 'The time itself, ISO 8601.' },
      delay: { type: 'integer', minimum: 0, description: 'Milliseconds from now; instead of the time itself.' },
    },
  ),
  description: 'When it is to happen: at a time, or after a delay.',
} as const

/** Further ahead than this is taken for a mistake of units. */
const furthestMilliseconds = 366 * 24 * 60 * 60 * 1000

/**
 * The time that a schedule means. One that has passed is due at once.
 *
 * @throws ApiError `InvalidPayload` when it means none, or one that is too far away
 */
export function scheduledTime(schedule: { dateTime?: string; delay?: number }, now = new Date()): Date {
  const { dateTime, delay } = schedule
  if ((dateTime === undefined) === (delay === undefined)) {
    throw new ApiError('InvalidPayload', 'schedule must have either dateTime or delay')
  }
  const milliseconds = dateTime === undefined ? now.getTime() + delay! : Date.parse(dateTime)
  if (milliseconds - now.getTime() > furthestMilliseconds) {
    throw new ApiError('InvalidPayload', 'schedule is more than a year ahead: choose an earlier time')
  }
  return new Date(milliseconds)
}
