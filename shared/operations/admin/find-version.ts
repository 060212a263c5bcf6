import type { Administrator } from '../../rpc/caller.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import { findDescribedVersion } from '../../store/bot-versions.ts'
import { findBot } from '../../store/bots.ts'
import type { BotRow } from '../../models/tables.ts'
import { noSuchBot } from './describe-bot.ts'
import type { DescribedVersionRow } from '../../models/bot-version.ts'

/** @throws ApiError `ResourceNotFound` when the caller's workspace has no such bot */
export async function findOwnBot({ db, caller }: Context & { caller: Administrator }, id: string): Promise<BotRow> {
  const row = await findBot(db, caller.workspaceId, id)
  if (!row) throw noSuchBot(id)
  return row
}

/** @throws ApiError `ResourceNotFound` when the bot has no such version */
export async function findOwnVersion(
  db: Context['db'],
  botId: string,
  versionId: string,
): Promise<DescribedVersionRow> {
  const row = await findDescribedVersion(db, botId, versionId)
  if (!row) throw notFound(`Version '${versionId}'`, 'old versions are deleted')
  return row
}
