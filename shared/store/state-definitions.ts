import { query, type Database } from './database.ts'
import type { StateName } from './states.ts'

/** The bot's or the installed integration's declaration of a state, as JSON text; undefined when there is none. */
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
