import type { BotContext } from '../../rpc/caller.ts'
import { readModelKeys } from '../../store/model-keys.ts'

/** The context with the models that the bot's workspace has: by its own keys where it has some, else by the operator's. */
export async function withOwnModels<Given extends BotContext>(context: Given): Promise<Given> {
  const { db, config, caller, models } = context
  if (caller.hasModelKeys === false) return context
  const keys = await readModelKeys(db, config.secret, caller.botId)
  return Object.keys(keys).length === 0 ? context : { ...context, models: models.withKeys(keys) }
}
