import type { Config } from '../config/config.ts'
import { ApiError } from '../errors.ts'
import { query, type Database } from './database.ts'
import { assertIndexQuota, IndexQuotaError } from './indexing.ts'
import { languageOf } from './passage-language.ts'
import { insertPassages, type NewPassage } from './passages.ts'
import { findOwnFile } from './runtime-files.ts'
import type { Scope } from './scope.ts'

/** Passages inserted by one statement. */
const batchSize = 200

/**
 * Stores passages for a file of the caller's own, which then waits to be indexed. Searches do not find the file meanwhile.
 *
 * @returns its id; undefined when there is none of that id or key
 * @throws ApiError `QuotaExceeded`
 */
export async function setGivenPassages(
  transaction: Database,
  scope: Scope,
  idOrKey: string,
  passages: NewPassage[],
  limits: Config['knowledge'],
): Promise<string | undefined> {
  const file = await findOwnFile(transaction, scope, idOrKey)
  if (!file) return undefined
  const [row] = await query<{ generation: number }>(
    transaction,
    `update files set status = 'indexing_pending', failed_status_reason = null, index = true,
       index_generation = index_generation + 1, updated_at = now()
     where id = :id returning index_generation as generation`,
    { id: file.id },
  )
  if (!row) return undefined
  const { generation } = row
  const language = await languageOf(transaction, passages)
  for (let first = 0; first < passages.length; first += batchSize) {
    const batch = passages.slice(first, first + batchSize)
    await insertPassages(transaction, { fileId: file.id, botId: scope.botId, generation, first, language }, batch)
  }
  try {
    await assertIndexQuota(transaction, scope.botId, limits, file.id)
  } catch (error) {
    throw error instanceof IndexQuotaError ? new ApiError('QuotaExceeded', error.message) : error
  }
  return file.id
}
