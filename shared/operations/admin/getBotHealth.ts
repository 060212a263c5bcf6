import { closedObject } from '../../schema.ts'
import { beginOf, botHealth, toBotHealth, windowInput, windows } from '../../models/bot-health.ts'
import { operation } from '../../rpc/operation.ts'
import { activityOf } from '../../store/activity.ts'
import { findBotHealth } from '../../store/bot-health.ts'
import { backlogSnapshot } from '../../monitoring/backlog-snapshot.ts'
import { noSuchBot } from './describe-bot.ts'

export const getBotHealth = operation({
  name: 'getBotHealth',
  description: 'Returns the state of a bot, and the outcomes and durations of its events within a window of time.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/health',
  access: 'viewer',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }, { window: windowInput }),
  output: closedObject({ health: botHealth }),

  async handle({ db, caller }, { id, window }) {
    const row = await findBotHealth(db, caller.workspaceId, id)
    if (!row) throw noSuchBot(id)
    const to = new Date()
    const from = beginOf(windows[window], to.getTime())
    const [activity, waiting] = await Promise.all([
      activityOf(db, { botIds: [id], from, seconds: windows[window].kept }),
      backlogSnapshot(db),
    ])
    return { health: toBotHealth(row, activity, waiting.get(id), { window, from, to }) }
  },
})
