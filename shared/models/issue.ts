import { closedObject } from '../schema.ts'

/** A text by name, as it is and, if there is a better form, for people. */
const issueData = {
  type: 'object',
  additionalProperties: closedObject({ raw: { type: 'string' } }, { pretty: { type: 'string' } }),
} as const
const time = { type: 'string', format: 'date-time' } as const

/** Failures of a bot with the same cause. */
export const issue = closedObject({
  id: { type: 'string', description: 'Equal for equal messages, and the `id` of the group in listBotErrors.' },
  code: { type: 'string', description: '`error`, or the limit that was exceeded, for instance `cpu`.' },
  createdAt: { ...time, description: 'The time of the first failure.' },
  lastSeenAt: { ...time, description: 'The time of the last failure.' },
  title: { type: 'string', description: 'The common message of the failures, with # in place of ids and numbers.' },
  description: { type: 'string', description: 'The message of the last failure.' },
  groupedData: { ...issueData, description: 'What the failures have in common.' },
  eventsCount: { type: 'integer' },
  category: { enum: ['user_code', 'limits'] },
  resolutionLink: { type: 'null' },
})

/** A failure. */
export const issueEvent = closedObject({
  id: { type: 'string', description: 'The id of the failed event.' },
  createdAt: time,
  data: issueData,
})
