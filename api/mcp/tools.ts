import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { isRecord } from '#shared/models/payload.ts'
import type { BotContext } from '#shared/rpc/caller.ts'
import { findOwnActions } from '#shared/store/bots.ts'

/** An action as a tool. */
export interface Tool {
  name: string
  title?: string
  description?: string
  inputSchema: { type: 'object'; [key: string]: unknown }
}

/** Few clients read a second page, and a bot's descriptions have 1 MB at most. */
const maxToolsOfPage = 500

/**
 * The own actions of a bot, as tools, in the order of their names. Those of a bundle of the public SDK are the ones that its
 * definition declares; code may describe its actions, and a definition those that code does not describe.
 */
export async function findTools({ db, caller }: BotContext): Promise<Tool[]> {
  const found = await findOwnActions(db, caller.botId)
  if (!found) return []
  const { kind, actions, action_definitions: ofCode, defined } = found
  const names = kind === 'sdk' ? Object.keys(defined ?? {}) : actions
  return names.toSorted().map((name) => {
    const described = own(ofCode, name)
    const declared = own(defined, name)
    const title = described?.title ?? declared?.title
    const description = described?.description ?? declared?.description
    return {
      name,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      inputSchema: toObjectSchema(described?.input ?? declared?.input.schema),
    }
  })
}

function own<Value>(values: Record<string, Value> | null | undefined, name: string): Value | undefined {
  return values && Object.hasOwn(values, name) ? values[name] : undefined
}

/** The protocol demands the schema of an object: any other accepts every object. */
function toObjectSchema(schema: unknown): Tool['inputSchema'] {
  if (!isRecord(schema)) return { type: 'object' }
  const { type = 'object', ...rest } = schema
  return type === 'object' ? { ...rest, type } : { type: 'object' }
}

/**
 * @param cursor of the page before: the number of tools on the pages before
 * @throws McpError when it is none
 */
export function pageOfTools(tools: Tool[], cursor = '0'): { tools: Tool[]; nextCursor?: string } {
  if (!/^\d{1,6}$/.test(cursor)) throw new McpError(ErrorCode.InvalidParams, 'The cursor is not one of this list')
  const next = Number(cursor) + maxToolsOfPage
  const page = tools.slice(Number(cursor), next)
  return { tools: page, ...(next < tools.length && { nextCursor: String(next) }) }
}
