import type { Embeddings } from '../embeddings/embeddings.ts'
import type { FileRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'
import { hasVectorType, toVectorText } from './vector-type.ts'

/** The vectors of passages. Rows of files say what is to be done: `embedding_due_at`. */

export interface EmbeddingClaim {
  fileId: string
  botId: string
  generation: number
  attempts: number
}

/** Takes a file whose passages are to get vectors. It is due again after the lease, if nothing else is said of it. */
export async function claimEmbedding(
  db: Database,
  fileId: string,
  leaseMilliseconds: number,
): Promise<EmbeddingClaim | undefined> {
  const [row] = await query<FileRow>(
    db,
    `update files set embedding_due_at = now() + :leaseMilliseconds * interval '1 millisecond'
     where id = :fileId and status = 'indexing_completed' and embedding_due_at <= now() returning *`,
    { fileId, leaseMilliseconds },
  )
  return row && { fileId, botId: row.bot_id, generation: row.index_generation, attempts: row.embedding_attempts }
}

export interface PassageText {
  id: string
  breadcrumb: string[]
  text: string
}

/** The next passages of a file that are to get a vector of a model and have none, in document order. */
export async function passagesWithoutVectors(
  db: Database,
  { fileId, generation }: EmbeddingClaim,
  model: string,
  limit: number,
): Promise<PassageText[]> {
  return query(
    db,
    `select id, breadcrumb, text from passages
     where file_id = :fileId and generation = :generation and without_vector_of is distinct from :model
       and not exists (select from passage_vectors where passage_id = passages.id and model = :model)
     order by position limit :limit`,
    { fileId, generation, model, limit },
  )
}

/** Records that a model makes no vectors of passages. */
export async function markWithoutVectors(db: Database, model: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await query(db, 'update passages set without_vector_of = :model where id = any(:ids::uuid[])', { model, ids })
}

/** Stores vectors in place of those of another model. Passages that were deleted meanwhile get none. */
export async function saveVectors(
  db: Database,
  model: Embeddings['model'],
  given: { passageId: string; vector: Float32Array }[],
): Promise<void> {
  if (given.length === 0) return
  const isVector = await hasVectorType(db)
  const ids = given.map(({ passageId }) => passageId)
  const vectors = isVector
    ? given.map(({ vector }) => toVectorText(vector))
    : given.map(({ vector }) => Buffer.from(vector.buffer))
  await db.transaction(async (transaction) => {
    // Not updated in place: a number names one vector for ever.
    await query(transaction, 'delete from passage_vectors where passage_id = any(:ids)', { ids })
    await query(
      transaction,
      `insert into passage_vectors (passage_id, model, dimensions, vector)
       select passages.id, :model, :dimensions, given.vector
       from unnest(:ids::uuid[], :vectors::${isVector ? 'vector' : 'bytea'}[]) as given (id, vector)
       join passages on passages.id = given.id
       for key share of passages
       on conflict (passage_id) do nothing`,
      { ids, model, vectors, dimensions: given[0]!.vector.length },
    )
  })
}

/**
 * No passage of a file is to get a vector of a model any more.
 *
 * @param reasonOf says for the person who uploaded the file why a number of its passages has none
 */
export async function completeEmbedding(
  db: Database,
  { fileId, generation }: EmbeddingClaim,
  model: string,
  reasonOf: (withoutVector: number) => string | null,
): Promise<void> {
  const [row] = await query<{ passages: number; without: number }>(
    db,
    `select count(*)::integer as passages, (count(*) filter (where without_vector_of = :model))::integer as without
     from passages where file_id = :fileId and generation = :generation`,
    { fileId, generation, model },
  )
  const failure = reasonOf(row!.without)
  // The reason of a file without passages is that it has no text.
  await query(
    db,
    `update files set embedding_due_at = null, embedding_attempts = 0, embedded_model = :model,
       failed_status_reason = ${row!.passages === 0 ? 'failed_status_reason' : ':failure'}
     where id = :fileId and index_generation = :generation and status = 'indexing_completed'`,
    { fileId, generation, model, failure },
  )
}

/**
 * Puts a file off.
 *
 * @param attempts those that have failed since vectors were made the last time
 * @param failure what went wrong, for the person who uploaded it; absent when nothing did
 * @param delayMilliseconds until the next attempt; absent: there is none
 */
export async function postponeEmbedding(
  db: Database,
  { fileId, generation }: EmbeddingClaim,
  { attempts, delayMilliseconds, failure }: { attempts: number; delayMilliseconds?: number; failure?: string },
): Promise<void> {
  await query(
    db,
    `update files set embedding_due_at = now() + :delay::float8 * interval '1 millisecond',
       embedding_attempts = :attempts, failed_status_reason = coalesce(:failure, failed_status_reason)
     where id = :fileId and index_generation = :generation and status = 'indexing_completed'`,
    { fileId, generation, delay: delayMilliseconds ?? null, attempts, failure: failure ?? null },
  )
}

/** Files whose passages are to get vectors, the longest due first. */
export async function dueEmbeddings(db: Database, limit: number): Promise<Pick<FileRow, 'id' | 'bot_id'>[]> {
  return query(
    db,
    `select id, bot_id from files where embedding_due_at <= now() and status = 'indexing_completed'
     order by embedding_due_at limit :limit`,
    { limit },
  )
}

/**
 * Makes indexed files due that have no vectors of the present model, and are not due yet: those from before the endpoint
 * or the model was set, and those whose attempts were given up.
 *
 * @returns how many they were
 */
export async function makeEmbeddingsDue(db: Database, model: string, limit: number): Promise<number> {
  const rows = await query(
    db,
    `update files set embedding_due_at = now(), embedding_attempts = 0 where id in (
       select id from files where status = 'indexing_completed' and embedding_due_at is null
         and embedded_model is distinct from :model limit :limit
     ) returning id`,
    { model, limit },
  )
  return rows.length
}
