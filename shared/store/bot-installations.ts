import { query, type Database } from './database.ts'
import { disabledReason } from './disabled-code.ts'
import type { EventStatus, InstallationRow } from '../models/tables.ts'

/** The outcome of a `register()` or `unregister()` of an installed integration. Times are text, as in JSON. */
export interface RegistrationOutcome {
  id: string
  type: 'register' | 'unregister'
  status: EventStatus
  failure_reason: string | null
  created_at: string
  started_at: string | null
  ended_at: string | null
  took: number | null
}

/** An installation without its secret columns. */
export interface InstallationState extends Omit<InstallationRow, 'configuration' | 'sandbox_identifiers'> {
  /** The name of the integration; null for the chat. */
  name: string | null
  version: string | null
  disabled_reason: string | null
  /** Whether its configuration has a script that writes the link of its authorization. */
  has_link: boolean
  /** Newest first. */
  registrations: RegistrationOutcome[]
}

/** A bot's installations in order of creation, with the last outcomes of their registrations. */
export async function installationStates(db: Database, botId: string, outcomes: number): Promise<InstallationState[]> {
  return query<InstallationState>(
    db,
    `select installations.id, installations.bot_id, integration, alias, integration_id, enabled, status, status_reason,
       coalesce(integrations.definition #>> case when configuration_type is null
         then array['configuration', 'identifier', 'linkTemplateScript']
         else array['configurations', configuration_type, 'identifier', 'linkTemplateScript'] end, '') <> '' as has_link,
       identifier, schedule, next_register_at, register_failures, integrations.name, integrations.version,
       ${disabledReason('installations.bot_id', 'integrations.code_id')} as disabled_reason,
       (
         select coalesce(jsonb_agg(to_jsonb(last) order by last.created_at desc, last.id desc), '[]') from (
           select id, type, status, failure_reason, created_at, started_at, ended_at,
             (runs #>> '{-1,took}')::double precision as took
           from events
           where events.installation_id = installations.id and events.bot_id = installations.bot_id
             and type in ('register', 'unregister')
           order by created_at desc, id desc limit :outcomes
         ) last
       ) as registrations
     from installations left join integrations on integrations.id = installations.integration_id
     where installations.bot_id = :botId
     order by installations.created_at, installations.id`,
    { botId, outcomes },
  )
}
