/**
 * The rows that a caller may access: all of a bot's, or those of one installed integration. A `BotCaller` is a scope.
 */
export interface Scope {
  botId: string
  installation?: { id: string }
}

/** SQL for the condition that a conversation, or a row of it, is in a scope. */
export const inScope = `
  conversations.bot_id = :botId and (:installationId::text is null or conversations.installation_id = :installationId)`

/** SQL for the condition that a user is in a scope. The bot is a user too, visible to all its integrations. */
export const userInScope = `
  users.bot_id = :botId
  and (:installationId::text is null or users.installation_id = :installationId or users.id = :botId)`

/** The bindings of `inScope` and `userInScope`. */
export function scopeBindings({ botId, installation }: Scope): { botId: string; installationId: string | null } {
  return { botId, installationId: installation?.id ?? null }
}
