import type { Administrator } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import { ApiError, notFound } from '../../errors.ts'
import { schedulesOf, summarizeFlows } from '../../flows/flow-summary.ts'
import { findContents, findVersionBefore } from '../../store/bot-versions.ts'
import { insertBotRegistration } from '../../store/events.ts'
import { lockBot, setDeployedVersion } from '../../store/bots.ts'
import { setFlowSchedules } from '../../store/recurring-events.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { noSuchBot } from './describe-bot.ts'
import { findOwnVersion } from './find-version.ts'

/**
 * Deploys an existing version of a bot; without `versionId`, the last usable one before the deployed one.
 * @throws ApiError `ResourceNotFound`, or `InvalidPayload` when the version is disabled
 */
export async function deployAgain(
  context: Context & { caller: Administrator },
  botId: string,
  versionId?: string,
): Promise<void> {
  const { db, caller } = context
  const registration = await db.transaction(async (transaction) => {
    const bot = await lockBot(transaction, caller.workspaceId, botId)
    if (!bot) throw noSuchBot(botId)
    const version =
      versionId === undefined
        ? await findVersionBefore(transaction, botId, bot.version_id ?? '')
        : await findOwnVersion(transaction, botId, versionId)
    if (!version) throw notFound('Previous version', 'the bot has no version to roll back to')
    if (version.disabled_reason !== null) {
      throw new ApiError('InvalidPayload', `The version is disabled: ${version.disabled_reason}`)
    }
    await setDeployedVersion(transaction, botId, version.id)
    const contents = await findContents(transaction, botId, version.id)
    await setFlowSchedules(transaction, botId, schedulesOf(summarizeFlows(contents?.flows ?? null)))
    return version.kind === 'sdk' ? insertBotRegistration(transaction, botId) : undefined
  })
  if (registration) await wakeWorker(context, 'event', registration.id, botId)
}
