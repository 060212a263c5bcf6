import type { Bot } from './bot.ts'

/** Warnings about what a bot declares, apart from its code: recurring events of types to which it has no subscription. */
export function warningsOfBot({
  subscriptions,
  recurringEvents,
}: Pick<Bot, 'subscriptions' | 'recurringEvents'>): string[] {
  const { events } = subscriptions
  if (!events) return []
  return Object.entries(recurringEvents as Record<string, { type: string }>)
    .filter(([, { type }]) => !Object.hasOwn(events, type))
    .map(
      ([name, { type }]) =>
        `the recurring event '${name}' does not reach the bot: subscriptions.events lacks its type '${type}'`,
    )
}
