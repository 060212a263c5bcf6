import type { BotContext } from '../../rpc/caller.ts'
import { once } from '../../rpc/journal.ts'
import { mergePatch } from '../../code/merge-patch.ts'
import { ApiError } from '../../errors.ts'
import { botDefinitionSchema } from '../../models/bot-definition.ts'
import { toBot, type Bot } from '../../models/bot.ts'
import { noPlugins } from '../../models/plugin.ts'
import type { BotRow } from '../../models/tables.ts'
import { changeOwnDefinition, findOwnBot } from '../../store/bots.ts'
import { noSuchBot } from './describe-bot.ts'

const nothing = { installations: [], integrations: [], recurringEvents: [], secretNames: [], plugins: noPlugins() }

/**
 * Changes the tags of the bot whose code calls. Code changes nothing else of its bot: it has what a member has granted it.
 *
 * @returns the bot without its integrations, plugins and secrets, which are for members
 * @throws ApiError `Forbidden` with other fields, or for an integration; `ResourceNotFound` for another bot
 */
export async function changeOwnTags(
  context: BotContext,
  { id, tags, ...others }: { id: string; tags?: Record<string, string | null> | undefined },
): Promise<{ bot: Bot }> {
  const { caller, config } = context
  if (caller.installation) throw new ApiError('Forbidden', 'An integration cannot change its bot')
  if (id !== caller.botId) throw noSuchBot(id)
  const refused = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (refused.length > 0) {
    throw new ApiError('Forbidden', `The code of a bot may change its tags alone, not ${refused.join(', ')}`)
  }
  const change = ({ definition }: BotRow) => mergePatch(botDefinitionSchema, definition, { tags })
  await once(context, { tags }, async (transaction) => {
    await changeOwnDefinition(transaction, id, change)
    return {}
  })
  const bot = await findOwnBot(context.db, id)
  if (!bot) throw noSuchBot(id)
  const { http, secret, retention } = config
  const view = { baseUrl: http.baseUrl, secret, showsSecrets: false }
  return { bot: toBot({ ...nothing, bot, disabledReasons: new Map() }, view, retention.data) }
}
