import type { Limits } from '#sandbox/protocol/contract.ts'
import { allowedLimits, type LimitSettings } from '#shared/config/limit-settings.ts'
import type { CodeLimits, OwnLimits } from '#shared/config/code-limits.ts'

/** The limits of all code that runs for a bot, that of its installed integrations included. */
export function limitsOf(settings: LimitSettings, own: OwnLimits = {}): Limits & CodeLimits {
  return {
    ...allowedLimits(settings, own),
    hostCallCharacters: 1024 * 1024,
    // A body of 1 MB as base64, or as text with a good deal to escape, and the headers.
    fetchCharacters: 2 * 1024 * 1024,
  }
}
