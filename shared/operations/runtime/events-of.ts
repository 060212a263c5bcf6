import type { BotCaller } from '../../rpc/caller.ts'
import { integrationType } from '../../models/event.ts'
import type { EventsOf } from '../../store/events.ts'

/**
 * The events that a caller may read: all of a bot for the bot, and those that it created for an installed integration.
 */
export function eventsOf({ botId, installation }: BotCaller): EventsOf {
  if (!installation) return { botId }
  const { integration } = installation
  // The alias may have belonged to another integration before.
  return { botId, madeBy: { integration, typePrefix: integrationType(installation, '') } }
}
