import type { VectorMemory } from '../embeddings/vector-memory.ts'
import type { TagCondition } from '../models/tag-filter.ts'
import { query, type Database } from './database.ts'
import { candidates, passageColumns, readablePassages, type FoundPassage } from './readable-passages.ts'
import type { Scope } from './scope.ts'
import { hasVectorType, toVectorText } from './vector-type.ts'

/** The vector of a question, and what compares it. */
export interface QuestionVector {
  model: string
  vector: Float32Array
  memory: VectorMemory
}

/**
 * The passages whose vectors are most similar to that of a question, best first: compared by the database where it has
 * pgvector, else by this process.
 *
 * @returns undefined when this process may not hold so many vectors
 */
export async function nearestPassages(
  db: Database,
  scope: Scope,
  tags: TagCondition[],
  question: QuestionVector,
): Promise<FoundPassage[] | undefined> {
  const { model, vector, memory } = question
  const withVectors = () =>
    readablePassages(db, scope, tags).joinRaw(
      `join passage_vectors on passage_id = passages.id and passage_vectors.model = ? and dimensions = ?`,
      [model, vector.length],
    )
  if (await hasVectorType(db)) {
    // All vectors are of length 1, so that their inner product is the cosine of the angle between them.
    const similarity = db.raw('-(passage_vectors.vector <#> ?::vector) as score', [toVectorText(vector)])
    const rows = await withVectors()
      .select(db.raw(passageColumns), similarity)
      .orderByRaw('score desc, passages.id')
      .limit(candidates)
    return rows.map((row: FoundPassage) => ({ ...row, score: toScore(row.score) }))
  }
  const most = memory.capacity(vector.length)
  // Without tags all passages count: the vectors of a bot that has too many are not listed.
  if (tags.length === 0 && (await hasMorePassages(db, scope.botId, most))) return undefined
  // One more than can be compared shows that there are too many; the others need not be listed.
  const comparable = withVectors()
    .select('passage_vectors.number')
    .limit(most + 1)
  const listed: { numbers: string | null }[] = await db
    .from(comparable.as('comparable'))
    .select(db.raw(`string_agg(number::text, ',') as numbers`))
  const numbers = listed[0]?.numbers?.split(',').map(Number) ?? []
  const nearest = await memory.nearest(vector, numbers, candidates, (missing) => vectorsOf(db, missing))
  if (!nearest || nearest.length === 0) return nearest && []
  const byNumber = new Map(nearest.map(({ number, score }, index) => [number, { index, score }]))
  const rows: (FoundPassage & { number: string })[] = await withVectors()
    .whereRaw('passage_vectors.number = any(?)', [[...byNumber.keys()]])
    .select(db.raw(passageColumns), 'passage_vectors.number')
  return rows
    .map(({ number, ...row }) => ({ row, ...byNumber.get(Number(number))! }))
    .toSorted((a, b) => a.index - b.index)
    .map(({ row, score }) => ({ ...row, score: toScore(score) }))
}

async function hasMorePassages(db: Database, botId: string, most: number): Promise<boolean> {
  const [row] = await query<{ passages: number }>(
    db,
    `select count(*)::integer as passages from (select from passages where bot_id = :botId limit :limit) counted`,
    { botId, limit: most + 1 },
  )
  return row!.passages > most
}

/** Opposite directions say no more than unrelated ones. */
function toScore(cosine: number): number {
  return Math.min(1, Math.max(0, cosine))
}

async function vectorsOf(db: Database, numbers: number[]): Promise<{ number: number; vector: Buffer }[]> {
  const rows = await query<{ number: string; vector: Buffer }>(
    db,
    'select number, vector from passage_vectors where number = any(:numbers)',
    { numbers },
  )
  return rows.map(({ number, vector }) => ({ number: Number(number), vector }))
}
