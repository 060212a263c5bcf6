import { ApiError } from '../../errors.ts'
import type { BotCaller } from '../../rpc/caller.ts'

/** @throws ApiError `Forbidden` when an integration calls: knowledge bases are the bot's */
export function assertBot({ installation }: BotCaller): void {
  if (!installation) return
  throw new ApiError('Forbidden', 'Knowledge bases are for the bot itself, not for its integrations')
}
