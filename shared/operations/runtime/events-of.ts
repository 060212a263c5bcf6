import type { BotCaller } from '../../rpc/caller.ts'
import { integrationType } from '../../models/event.ts'
import type { EventsOf } from '../../store/events.ts'

/** The events that a caller may see: the bot those that are for it, an installed integration those of its own making. */
export function eventsOf({ botId, installation }: BotCaller): EventsOf {
  if (!installation) return { botId }
  const { integration } = installation
  // The alias may have been another integration's before.
  return { botId, madeBy: { integration, typePrefix: integrationType(installation, '') } }
}
