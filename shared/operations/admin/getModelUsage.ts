import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { failureKinds } from '../../models/language-model.ts'
import { startOf } from '../../models/model-budget.ts'
import { operation } from '../../rpc/operation.ts'
import { failuresByDay, usageByDay } from '../../store/model-budgets.ts'

const day = { type: 'string', pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$' } as const
const dayMilliseconds = 24 * 3600 * 1000
const maxDays = 366

export const getModelUsage = operation({
  name: 'getModelUsage',
  description:
    'Lists what the bots of the workspace, or one of them, used of language models, by day in UTC, bot and model, and the ' +
    'failures of models by their cause.',
  method: 'GET',
  path: '/v1/admin/models/usage',
  access: 'viewer',
  stability: 'experimental',
  errors: ['InvalidQuery'],
  input: closedObject(
    {},
    {
      botId: { type: 'string' },
      from: { ...day, description: 'The first day; 30 days before the last unless given.' },
      to: { ...day, description: 'The last day; today unless given.' },
    },
  ),
  output: closedObject({
    usage: {
      type: 'array',
      items: closedObject({
        botId: { type: 'string' },
        day: { type: 'string' },
        model: { type: 'string', description: '`provider:model`.' },
        calls: { type: 'integer' },
        inputTokens: { type: 'integer' },
        outputTokens: { type: 'integer' },
        cost: { type: 'number', description: 'An estimate in US dollars.' },
      }),
    },
    failures: {
      type: 'array',
      description: 'Requests to a provider that failed, also where another attempt or model answered.',
      items: closedObject(
        {
          botId: { type: 'string' },
          day: { type: 'string' },
          model: { type: 'string' },
          kind: { enum: failureKinds },
          failures: { type: 'integer' },
        },
        { status: { type: 'integer', description: 'Of the provider’s answer, if there was one.' } },
      ),
    },
  }),

  async handle({ db, caller: { workspaceId } }, { botId, ...input }) {
    const last = toTime(input.to ?? startOf('day', new Date()))
    const first = input.from === undefined ? last - 30 * dayMilliseconds : toTime(input.from)
    if (first > last || last - first > maxDays * dayMilliseconds) {
      throw new ApiError('InvalidQuery', `from must be a day before to, by at most ${maxDays} days`)
    }
    const [from, to] = [first, last].map((time) => startOf('day', new Date(time))) as [string, string]
    const asked = { workspaceId, botId, from, to }
    const [usage, failures] = await Promise.all([usageByDay(db, asked), failuresByDay(db, asked)])
    return { usage, failures }
  },
})

/** @throws ApiError for a day that does not exist */
function toTime(text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time) || startOf('day', new Date(time)) !== text || text < '1970') {
    throw new ApiError('InvalidQuery', `'${text}' is not a day since 1970`)
  }
  return time
}
