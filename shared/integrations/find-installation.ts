import type { BotContext } from '../rpc/caller.ts'
import { ApiError } from '../errors.ts'
import { isChat } from '../models/chat-integration.ts'
import { listInstallations } from '../store/installations.ts'
import type { InstallationRow } from '../models/tables.ts'

/**
 * The installation in which a caller creates a conversation or a user: its own for an integration; for a bot the one
 * with the given name, or else the chat.
 *
 * @param name an integration's name or alias
 * @throws ApiError `ReferenceNotFound` when no installation has the name, `InvalidPayload` when several have it
 */
export async function findInstallationFor(
  { db, caller }: BotContext,
  name?: string,
): Promise<Pick<InstallationRow, 'id' | 'integration_id'>> {
  if (caller.installation) return caller.installation
  const installed = await listInstallations(db, caller.botId)
  const fitting = installed.filter((row) =>
    name === undefined ? isChat(row) : name === row.alias || name === row.integration,
  )
  const exact = fitting.find(({ alias }) => alias === name) ?? fitting[0]
  if (exact && (fitting.length === 1 || exact.alias === name)) return exact
  if (!exact) {
    throw new ApiError(
      'ReferenceNotFound',
      `Integration '${name ?? 'chat'}' not found: the bot has ${listAliases(installed)}`,
    )
  }
  throw new ApiError(
    'InvalidPayload',
    `'${name}' is installed more than once: name one by its alias (${listAliases(fitting)})`,
  )
}

/** The aliases of installations, for a message. */
export function listAliases(installations: { alias: string }[]): string {
  return installations.length === 0 ? 'none' : installations.map(({ alias }) => `'${alias}'`).join(', ')
}
