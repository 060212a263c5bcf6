import { sendTyping } from './replies.ts'

/** How often the user's client is told again, which shows it for 5 seconds. */
const againMilliseconds = 3000

/** When the user was told last, by conversation. */
const toldAt = new Map<string, number>()

/** Shows the user of a conversation that the member types, or has emptied the field. A failure changes nothing. */
export function showTyping(botId: string, conversationId: string, isTyping: boolean): void {
  const told = toldAt.get(conversationId)
  if (isTyping ? told !== undefined && Date.now() - told < againMilliseconds : told === undefined) return
  if (isTyping) toldAt.set(conversationId, Date.now())
  else toldAt.delete(conversationId)
  void sendTyping(botId, conversationId, isTyping).catch(() => undefined)
}

/** To be called when the member's message is sent, which ends what the user's client shows. */
export function forgetTyping(conversationId: string): void {
  toldAt.delete(conversationId)
}
