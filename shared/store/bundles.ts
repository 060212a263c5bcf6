import { query, type Database } from './database.ts'
import type { BundleRow } from '../models/tables.ts'
import type { Progress } from './retention.ts'

/**
 * The compiled code of uploads. Versions of bots and integrations refer to it, so that the same code is stored and compiled
 * once. A bundle counts as used when its code is uploaded; the retention deletes those that nothing refers to any more.
 */

/** The time between an upload and the row that refers to its bundle is far shorter. */
const unusedMilliseconds = 10 * 60 * 1000

/** The columns of code, from the bundle or, for code that has not been moved yet, from the row itself. */
export function codeColumns(table: 'bot_versions' | 'integrations') {
  return {
    source: `coalesce(bundles.source, ${table}.source)`,
    script: `coalesce(bundles.script, bundles.source, ${table}.script)`,
    source_map: `coalesce(bundles.source_map, ${table}.source_map)`,
  }
}

/** The author's files of a version of a bot. */
export const filesColumn = `case when bundles.id is null then bot_versions.files else bundles.files end`

/** Prevents the deletion of a bundle for some minutes. False when there is none with that id. */
export async function touchBundle(db: Database, id: string): Promise<boolean> {
  return (
    (await db('bundles')
      .where({ id })
      .update({ used_at: db.raw('clock_timestamp()') })) === 1
  )
}

/** Stores a bundle of the source of an inspection, unless another upload has stored it meanwhile. */
export async function insertBundle(
  db: Database,
  inspectionId: string,
  bundle: Pick<BundleRow, 'kind' | 'script' | 'source_map' | 'files'>,
): Promise<void> {
  await query(
    db,
    `insert into bundles (id, kind, source, script, source_map, given_map, files, used_at)
     select bundle_id, :kind, source, :script, :sourceMap, given_map, :files, clock_timestamp()
     from inspections where id = :inspectionId and bundle_id is not null and source is not null
     on conflict (id) do update set used_at = excluded.used_at`,
    { inspectionId, kind: bundle.kind, script: bundle.script, sourceMap: bundle.source_map, files: bundle.files },
  )
}

/**
 * Deletes bundles that nothing refers to. An upload that uses one at the same time has touched it, which the statement finds
 * when it has waited for the row; the foreign keys prevent what would be a dangling reference.
 *
 * @param from the id to continue after; the call looks at no more than `limit` bundles
 */
export async function deleteUnusedBundles(
  db: Database,
  { from, limit }: { from: string | undefined; limit: number },
): Promise<Progress<string>> {
  const [row] = await query<{ last: string | null; looked: number; deleted: number }>(
    db,
    `with looked as (select id from bundles where id > :from order by id limit :limit),
     deleted as (
       delete from bundles using looked
       where bundles.id = looked.id and used_at < now() - :unused::double precision * interval '1 millisecond'
         and not exists (select from bot_versions where bundle_id = bundles.id)
         and not exists (select from integrations where bundle_id = bundles.id)
       returning bundles.id
     )
     select (select max(id) from looked) as last, (select count(*)::integer from looked) as looked,
       (select count(*)::integer from deleted) as deleted`,
    { from: from ?? '', limit, unused: unusedMilliseconds },
  )
  const { last, looked, deleted } = row!
  return { cursor: looked < limit ? undefined : (last ?? undefined), deleted }
}

/**
 * Moves code that processes of an earlier version of the platform have stored with each version and each integration.
 *
 * @returns the number of moved rows, at most `limit` of each table
 */
export async function moveCode(db: Database, limit: number): Promise<number> {
  const versions = await moveFrom(db, 'bot_versions', limit)
  return versions + (await moveFrom(db, 'integrations', limit))
}

async function moveFrom(db: Database, table: 'bot_versions' | 'integrations', limit: number): Promise<number> {
  const files = table === 'bot_versions' ? 'files' : 'null'
  // Code at an address, of integrations under development, is empty.
  const [row] = await query<{ moved: number }>(
    db,
    `with picked as (
       select id, kind, source, nullif(script, source) as script, source_map, ${files} as files from ${table}
       where bundle_id is null and source <> '' limit :limit for update skip locked
     ), named as (
       select *, encode(sha256(convert_to(concat_ws('/', 'moved', kind, ${['source', 'script', 'source_map', 'files']
         .map((column) => `sha256(convert_to(coalesce(${column}, ''), 'UTF8'))`)
         .join(', ')}), 'UTF8')), 'hex') as bundle_id
       from picked
     ), stored as (
       insert into bundles (id, kind, source, script, source_map, files, used_at)
       select distinct on (bundle_id) bundle_id, kind, source, script, source_map, files, clock_timestamp()
       from named order by bundle_id
       on conflict (id) do update set used_at = excluded.used_at
     ), moved as (
       update ${table} set bundle_id = named.bundle_id, source = null, script = null, source_map = null
         ${table === 'bot_versions' ? ', files = null' : ''}
       from named where ${table}.id = named.id returning 1
     )
     select count(*)::integer as moved from moved`,
    { limit },
  )
  return row!.moved
}
