import { query, type Database } from './database.ts'
import type { StateName } from './states.ts'

/** What the bot, or the integration that is installed, declares of a state, as JSON text; undefined for nothing. */
export async function findStateDefinition(
  db: Database,
  { botId, installationId, name }: Pick<StateName, 'botId' | 'installationId' | 'name'>,
): Promise<string | undefined> {
  const [row] = installationId
    ? await query<{ definition: string | null }>(
        db,
        `select definition #>> array['states', :name] as definition
         from installations join integrations on integrations.id = integration_id
         where installations.id = :installationId and bot_id = :botId`,
        { botId, installationId, name },
      )
    : await query<{ definition: string | null }>(
        db,
        `select definition #>> array['states', :name] as definition from bots where id = :botId`,
        { botId, name },
      )
  return row?.definition ?? undefined
}
