import { page, toPage, type Page, type PageRequest } from './pagination.ts'
import { codeColumns, filesColumn } from './bundles.ts'
import { query, type Database } from './database.ts'
import { disabledReason } from './disabled-code.ts'
import type { BotVersionRow, BundleRow } from '../models/tables.ts'
import type { DescribedVersionRow } from '../models/bot-version.ts'

/** One page of a bot's versions, newest first. */
export async function pageOfVersions(
  db: Database,
  botId: string,
  request: PageRequest,
): Promise<Page<DescribedVersionRow>> {
  const rows: DescribedVersionRow[] = await described(db, botId).modify((builder) =>
    page(builder, request, 'bot_versions.created_at', 'bot_versions.id'),
  )
  return toPage(rows, request, (row) => ({ createdAt: row.created_at, id: row.id }))
}

export async function findDescribedVersion(
  db: Database,
  botId: string,
  id: string,
): Promise<DescribedVersionRow | undefined> {
  return described(db, botId).where('bot_versions.id', id).first()
}

/** The newest version that is older than a given one and not disabled. */
export async function findVersionBefore(
  db: Database,
  botId: string,
  id: string,
): Promise<DescribedVersionRow | undefined> {
  return described(db, botId)
    .whereRaw(
      `(bot_versions.created_at, bot_versions.id) < (select created_at, id from bot_versions where bot_id = ? and id = ?)`,
      [botId, id],
    )
    .whereRaw(`${disabledReason('bot_versions.bot_id', 'bot_versions.id')} is null`)
    .orderByRaw('bot_versions.created_at desc, bot_versions.id desc')
    .first()
}

/** The uploaded source code; as JSON the author's files, the flows and their layouts, if the upload had them. */
export async function findContents(db: Database, botId: string, id: string): Promise<VersionContents | undefined> {
  const [row] = await query<VersionContents>(
    db,
    `select ${codeColumns('bot_versions').source} as source, ${filesColumn} as files, given_map, flows, has_flows_in_code, layouts
     from bot_versions left join bundles on bundles.id = bundle_id
     where bot_id = :botId and bot_versions.id = :id`,
    { botId, id },
  )
  return row
}

type VersionContents = Pick<BotVersionRow, 'files' | 'flows' | 'has_flows_in_code' | 'layouts'> &
  Pick<BundleRow, 'source' | 'given_map'>

export async function nameVersion(
  db: Database,
  botId: string,
  id: string,
  { name, description }: { name: string; description?: string | undefined },
): Promise<void> {
  await db('bot_versions')
    .where({ bot_id: botId, id })
    // Name and description of the upload stay unless new ones are given.
    .update({ name, ...(description !== undefined && { description }) })
}

function described(db: Database, botId: string) {
  return db<DescribedVersionRow, DescribedVersionRow[]>('bot_versions')
    .join('bots', 'bots.id', 'bot_versions.bot_id')
    .leftJoin('accounts', 'accounts.id', 'bot_versions.author_id')
    .where('bot_versions.bot_id', botId)
    .select(
      'bot_versions.id',
      'bot_versions.author_id',
      'accounts.name as author_name',
      'accounts.email as author_email',
      'kind',
      'hash',
      'hooks',
      'actions',
      'bot_versions.name',
      'bot_versions.description',
      'bot_versions.created_at',
      db.raw('coalesce(bots.version_id = bot_versions.id, false) as is_deployed'),
      db.raw(`${disabledReason('bot_versions.bot_id', 'bot_versions.id')} as disabled_reason`),
    )
}
