import { query, type Database } from './database.ts'

/** Whether vectors are stored in pgvector's type, by which the database compares them. */
export async function hasVectorType(db: Database): Promise<boolean> {
  const [row] = await query<{ type: string }>(
    db,
    `select format_type(atttypid, null) as type from pg_attribute
     where attrelid = 'passage_vectors'::regclass and attname = 'vector'`,
    {},
  )
  return row!.type !== 'bytea'
}

/** A vector as pgvector reads it. */
export function toVectorText(vector: Float32Array): string {
  return `[${Array.from(vector, (value) => value.toPrecision(8)).join(',')}]`
}

/**
 * Stores vectors in pgvector's type from now on, where the server has it. Vectors that are stored otherwise are deleted:
 * workers make them again.
 *
 * @returns whether the database compares vectors
 */
export async function adoptVectorType(db: Database): Promise<boolean> {
  if (await hasVectorType(db)) return true
  if (!(await hasExtension(db))) return false
  await db.transaction(async (transaction) => {
    await transaction.raw(`
      truncate passage_vectors;
      alter table passage_vectors alter column vector type vector using null;
      update files set embedded_model = null where embedded_model is not null;
    `)
  })
  return true
}

async function hasExtension(db: Database): Promise<boolean> {
  const [row] = await query<{ is_created: boolean; is_available: boolean }>(
    db,
    `select exists (select from pg_extension where extname = 'vector') as is_created,
       exists (select from pg_available_extensions where name = 'vector') as is_available`,
    {},
  )
  if (row!.is_created) return true
  if (!row!.is_available) return false
  try {
    await db.raw('create extension if not exists vector')
    return true
  } catch {
    // An administrator has to create it; until then processes compare vectors themselves.
    return false
  }
}
