import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { beginOf, botHealthSummary, toBotHealthSummary, windows } from '../../models/bot-health.ts'
import { operation } from '../../rpc/operation.ts'
import { activityOf } from '../../store/activity.ts'
import { pageOfBotHealth } from '../../store/bot-health.ts'
import { backlogSnapshot } from '../../monitoring/backlog-snapshot.ts'

export const listBotHealth = operation({
  name: 'listBotHealth',
  description: 'Lists the workspace’s bots with their state and their health in the last hour, the newest bot first.',
  method: 'GET',
  path: '/v1/admin/bots/health',
  access: 'viewer',
  stability: 'experimental',
  input: closedObject({}, { ...pageInput }),
  output: closedObject({
    bots: { type: 'array', items: botHealthSummary },
    from: { type: 'string', format: 'date-time', description: 'The start of the first minute.' },
    to: { type: 'string', format: 'date-time' },
    meta: pageMeta,
  }),

  async handle({ db, caller }, input) {
    const to = new Date()
    const from = beginOf(windows['1h'], to.getTime())
    const page = await pageOfBotHealth(db, caller.workspaceId, pageRequest(input))
    const botIds = page.rows.map(({ id }) => id)
    const [activity, waiting] = await Promise.all([
      activityOf(db, { botIds, from, seconds: windows['1h'].kept }),
      backlogSnapshot(db),
    ])
    const activityByBot = Map.groupBy(activity, ({ bot_id: botId }) => botId)
    return {
      bots: page.rows.map((row) => toBotHealthSummary(row, activityByBot.get(row.id) ?? [], waiting.get(row.id), from)),
      from: from.toISOString(),
      to: to.toISOString(),
      meta: toMeta(page),
    }
  },
})
