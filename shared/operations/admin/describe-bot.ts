import { hasRole, type Administrator } from '../../caller.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { codeLimit, permissions } from '../../models/bot-code.ts'
import { toBot, type Bot } from '../../models/bot.ts'
import { findBot, findDeployedVersion } from '../../store/bots.ts'
import { decryptInstallation, listInstallations } from '../../store/installations.ts'
import { integrations } from './integrations.ts'

/** What an administrator may set of a bot. */
export const botFields = {
  name: { type: 'string', minLength: 1, maxLength: 200 },
  code: {
    type: 'string',
    maxLength: codeLimit,
    description: 'One ES module, TypeScript or JavaScript, that exports `hooks` and `actions`.',
  },
  permissions,
  integrations,
} as const

/**
 * A bot in full; with the secrets of its installations for administrators and owners, and for nobody else.
 * @throws ApiError `ResourceNotFound` when the workspace has none with that id
 */
export async function describeBot(context: Context & { caller: Administrator }, id: string): Promise<Bot> {
  const { db, caller, config } = context
  const [bot, version, installations] = await Promise.all([
    findBot(db, caller.workspaceId, id),
    findDeployedVersion(db, id),
    listInstallations(db, id),
  ])
  if (!bot) throw noSuchBot(id)
  const { secret, http } = config
  return toBot(
    { bot, version, installations: await Promise.all(installations.map((row) => decryptInstallation(row, secret))) },
    { baseUrl: http.baseUrl, secret, showsSecrets: hasRole(caller, 'administrator') },
  )
}

export function noSuchBot(id: string): ApiError {
  return new ApiError('ResourceNotFound', `The workspace has no bot '${id}'`)
}
