import { flowStateName } from '../models/state.ts'
import { query, type Database } from './database.ts'

/** Upper bound of the nodes that are counted, those with the most conversations. */
export const maxCountedNodes = 1000

/** The numbers of a bot's conversations that wait in flows, by flow and node: of flows that call another, the called one. */
export async function countFlowPositions(
  db: Database,
  botId: string,
): Promise<{ flow: string; node: string; conversations: number }[]> {
  return query(
    db,
    `select flow, node, count(*)::integer as conversations
     from (
       select frame ->> 'flow' as flow, frame ->> 'node' as node
       from (
         select payload -> 'position' -> 'frames' -> -1 as frame
         from states
         where bot_id = :botId and type = 'conversation' and name = '${flowStateName}' and installation_id is null
       ) as positions
       where frame is not null
     ) as nodes
     group by flow, node
     order by conversations desc, flow, node
     limit :limit`,
    { botId, limit: maxCountedNodes },
  )
}

/** Upper bound of the conversations that a count of some nodes reads. */
export const maxReadPositions = 100_000

/**
 * The numbers of a bot's conversations that wait at some nodes, as `countFlowPositions`.
 *
 * @param nodes as `flow/node`
 */
export async function countPositionsAt(
  db: Database,
  botId: string,
  nodes: string[],
): Promise<{ flow: string; node: string; conversations: number }[]> {
  return query(
    db,
    `select frame ->> 'flow' as flow, frame ->> 'node' as node, count(*)::integer as conversations
     from (
       select payload -> 'position' -> 'frames' -> -1 as frame
       from states
       where bot_id = :botId and type = 'conversation' and name = '${flowStateName}' and installation_id is null
       limit :read
     ) as positions
     where (frame ->> 'flow') || '/' || (frame ->> 'node') = any(:nodes::text[])
     group by flow, node
     order by conversations desc, flow, node
     limit :limit`,
    { botId, nodes, read: maxReadPositions, limit: maxCountedNodes },
  )
}
