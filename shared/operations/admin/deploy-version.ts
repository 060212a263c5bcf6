import type { Administrator } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import { ApiError, notFound } from '../../errors.ts'
import { schedulesOf, summarizeFlows } from '../../flows/flow-summary.ts'
import { findContents, findVersionBefore } from '../../store/bot-versions.ts'
import { insertBotRegistration } from '../../store/events.ts'
import { lockBot, setDeployedVersion } from '../../store/bots.ts'
import { transact, type Database } from '../../store/database.ts'
import type { DescribedVersionRow } from '../../models/bot-version.ts'
import type { BotRow } from '../../models/tables.ts'
import { planFlowSchedules, setFlowSchedules } from '../../store/recurring-events.ts'
import { wakeWorker } from '../../signals/after-commit.ts'
import { noSuchBot } from './describe-bot.ts'
import { findOwnBot, findOwnVersion } from './find-version.ts'

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
  // The search for the times of a schedule takes up to 50 ms, which would hold the bot's row and a connection.
  const expected = await findUsable(db, await findOwnBot(context, botId), versionId)
  const expectedSchedules = await schedulesOfVersion(db, botId, expected.id)
  const planned = await planFlowSchedules(db, expectedSchedules)
  const registration = await transact(db, async (transaction) => {
    const bot = await lockBot(transaction, caller.workspaceId, botId)
    if (!bot) throw noSuchBot(botId)
    const version = await findUsable(transaction, bot, versionId)
    await setDeployedVersion(transaction, botId, version.id)
    const isExpected = version.id === expected.id
    const schedules = isExpected ? expectedSchedules : await schedulesOfVersion(transaction, botId, version.id)
    await setFlowSchedules(transaction, botId, schedules, planned)
    return version.kind === 'sdk' ? insertBotRegistration(transaction, botId) : undefined
  })
  if (registration) await wakeWorker(context, 'event', registration.id, botId)
}

async function findUsable(db: Database, bot: BotRow, versionId: string | undefined): Promise<DescribedVersionRow> {
  const version =
    versionId === undefined
      ? await findVersionBefore(db, bot.id, bot.version_id ?? '')
      : await findOwnVersion(db, bot.id, versionId)
  if (!version) throw notFound('Previous version', 'the bot has no version to roll back to')
  if (version.disabled_reason !== null) {
    throw new ApiError('InvalidPayload', `The version is disabled: ${version.disabled_reason}`)
  }
  return version
}

async function schedulesOfVersion(db: Database, botId: string, versionId: string) {
  const contents = await findContents(db, botId, versionId)
  return schedulesOf(summarizeFlows(contents?.flows ?? null))
}
