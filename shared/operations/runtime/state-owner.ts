import type { BotCaller } from '../../caller.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { stateTypes } from '../../models/state.ts'
import { findConversation } from '../../store/conversations.ts'
import type { StateName } from '../../store/states.ts'
import type { StateType } from '../../store/tables.ts'
import { findUser } from '../../store/users.ts'

/** The path parameters that name a state. */
export const stateName = {
  type: { enum: stateTypes },
  id: { type: 'string', description: 'Of the bot, user or conversation whose state it is.' },
  name: { type: 'string', minLength: 1, maxLength: 200 },
} as const

/**
 * Names a state after checking that its owner is the bot's.
 * @throws ApiError `ResourceNotFound`
 */
export async function namedState(
  { db, caller }: Context & { caller: BotCaller },
  { type, id, name }: { type: StateType; id: string; name: string },
): Promise<StateName> {
  const { botId } = caller
  const isOwn = {
    bot: () => id === botId,
    user: () => findUser(db, botId, id),
    conversation: () => findConversation(db, botId, id),
  }
  if (await isOwn[type]()) return { botId, type, ownerId: id, name }
  throw new ApiError('ResourceNotFound', `The bot has no ${type} '${id}'`)
}
