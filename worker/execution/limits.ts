import type { Limits } from '#sandbox/protocol/contract.ts'
import { allowedLimits, type LimitSettings } from '#shared/config/limit-settings.ts'
import type { CodeLimits, OwnLimits } from '#shared/config/code-limits.ts'

/**
 * The limits of all code that runs for a bot, that of its installed integrations included.
 *
 * @param own those of the bot
 * @param needed what the kind of code needs where the bot has no limit of its own, within the operator's maximum
 */
export function limitsOf(settings: LimitSettings, own: OwnLimits = {}, needed: OwnLimits = {}): Limits & CodeLimits {
  const raised = Object.entries(needed).map(([name, limit]) => [
    name,
    Math.max(limit, settings.limits[name as keyof CodeLimits]),
  ])
  return {
    ...allowedLimits(settings, { ...(Object.fromEntries(raised) as OwnLimits), ...own }),
    hostCallCharacters: 1024 * 1024,
    // A body of 1 MB as base64, or as text with a good deal to escape, and the headers.
    fetchCharacters: 2 * 1024 * 1024,
  }
}
