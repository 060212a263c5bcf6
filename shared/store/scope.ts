/** Whose rows are meant: all of a bot's, or those alone of one integration that is installed on it. A `BotCaller` is one. */
export interface Scope {
  botId: string
  installation?: { id: string }
}

/** SQL for the condition that a conversation, or what it belongs to, is in a scope. */
export const inScope = `
  conversations.bot_id = :botId and (:installationId::text is null or conversations.installation_id = :installationId)`

/** SQL for the same of a user. The bot is a user too, whom all its integrations see. */
export const userInScope = `
  users.bot_id = :botId
  and (:installationId::text is null or users.installation_id = :installationId or users.id = :botId)`

/** What the two need. */
export function scopeBindings({ botId, installation }: Scope): { botId: string; installationId: string | null } {
  return { botId, installationId: installation?.id ?? null }
}
