import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { botDay, daysBetween, maxDays, toBotDay } from '../../models/bot-day.ts'
import { operation } from '../../rpc/operation.ts'
import { countDays } from '../../store/bot-days.ts'
import { findOwnBot } from './find-version.ts'

const day = {
  type: 'string',
  pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])(T|$)',
  description: 'A day in UTC, or a time in it.',
} as const

export const getBotAnalytics = operation({
  name: 'getBotAnalytics',
  description: `Counts users, conversations, messages and events of a bot on each day of a period of at most ${maxDays} days.`,
  method: 'GET',
  path: '/v1/admin/bots/{id}/analytics',
  access: 'viewer',
  errors: ['InvalidQuery', 'ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, startDate: day, endDate: day }),
  output: closedObject({ records: { type: 'array', items: botDay } }),

  async handle(context, { id, startDate, endDate }) {
    await findOwnBot(context, id)
    const days = daysBetween(startDate.slice(0, 10), endDate.slice(0, 10))
    if (days.length === 0 || days.length > maxDays) {
      throw new ApiError('InvalidQuery', `startDate to endDate must be 1 to ${maxDays} days`)
    }
    const counted = await countDays(context.db, id, days)
    return { records: days.map((day) => toBotDay(day, counted.get(day)!)) }
  },
})
