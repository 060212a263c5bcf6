import type { KnowledgeBaseRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'

const maxBases = 50

/** The knowledge bases that a search names by id or name; all of the bot's when it names none. */
export async function findNamedKnowledgeBases(
  db: Database,
  botId: string,
  { ids, names }: { ids: string[] | undefined; names: string[] | undefined },
): Promise<KnowledgeBaseRow[]> {
  return query<KnowledgeBaseRow>(
    db,
    `select * from knowledge_bases where bot_id = :botId
       and (:ids::text[] is null or id = any(:ids)) and (:names::text[] is null or name = any(:names))
     order by created_at, id limit :maxBases`,
    { botId, ids: ids ?? null, names: names ?? null, maxBases },
  )
}
