import type { PlatformSecret } from '../secrets.ts'
import { readSecrets } from './named-secrets.ts'
import { query, type Database } from './database.ts'
import { codeColumns } from './bundles.ts'
import { disabledReason } from './disabled-code.ts'
import { decryptInstallation } from './installations.ts'
import type { CodeKind, InstallationRow, Installation } from '../models/tables.ts'

/** An installed integration, with all that a run of its code needs. Contains secrets. */
export interface InstalledIntegration {
  installation: Installation & { integration_id: string }
  kind: CodeKind
  /** The immutable id of the code. */
  codeId: string
  /** Why the code is disabled; null when it runs. */
  disabledReason: string | null
  /** The names of the declared actions. */
  actions: string[]
  secrets: Record<string, string>
  /** The address of the code of an integration under development; null for others. */
  url: string | null
}

/** Selects one of a bot's installations. */
export type InstallationKey = { id: string } | { alias: string }

type InstalledRow = InstallationRow & {
  integration_id: string
  kind: CodeKind
  code_id: string
  disabled_reason: string | null
  secrets: string | null
  url: string | null
  actions: string[]
}

/**
 * Finds an integration that is installed on a bot. The built-in chat is not an integration in this sense.
 *
 * @param secret the platform's own, which decrypts the secrets
 * @throws Error when they were encrypted with another secret
 */
export async function findInstalledIntegration(
  db: Database,
  secret: PlatformSecret,
  botId: string,
  key: InstallationKey,
): Promise<InstalledIntegration | undefined> {
  const [row] = await query<InstalledRow>(
    db,
    `select installations.*, integrations.kind, integrations.code_id, integrations.secrets, integrations.url,
       ${disabledReason('installations.bot_id', 'integrations.code_id')} as disabled_reason,
       array(select jsonb_object_keys(integrations.definition -> 'actions')) as actions
     from installations join integrations on integrations.id = integration_id
     where bot_id = :botId and ${'id' in key ? 'installations.id' : 'alias'} = :key`,
    { botId, key: 'id' in key ? key.id : key.alias },
  )
  if (!row) return undefined
  const { kind, code_id: codeId, disabled_reason: why, secrets, url, actions, ...installation } = row
  return {
    installation: { ...(await decryptInstallation(installation, secret)), integration_id: installation.integration_id },
    kind,
    codeId,
    disabledReason: why,
    actions,
    url,
    secrets: await readSecrets(secret, { id: installation.integration_id, secrets }),
  }
}

/** The code of an integration; undefined when the integration has other code by now. */
export async function findIntegrationCode(
  db: Database,
  codeId: string,
): Promise<{ script: string; source_map: string } | undefined> {
  const { script, source_map: sourceMap } = codeColumns('integrations')
  const [row] = await query<{ script: string; source_map: string }>(
    db,
    `select ${script} as script, ${sourceMap} as source_map
     from integrations left join bundles on bundles.id = bundle_id where code_id = :codeId`,
    { codeId },
  )
  return row
}

/** The kind of an integration's code; undefined when the integration has been deleted. */
export async function findCodeKind(db: Database, integrationId: string): Promise<CodeKind | undefined> {
  return (await db('integrations').where({ id: integrationId }).first('kind'))?.kind
}

/** The part of its definition that a bot made with the public SDK reads. */
export interface BotSettings {
  configuration: Record<string, unknown>
  tags: Record<string, string>
}

/** @returns undefined when there is no such bot */
export async function findBotSettings(db: Database, botId: string): Promise<BotSettings | undefined> {
  const [row] = await query<{ [Field in keyof BotSettings]: BotSettings[Field] | null }>(
    db,
    `select definition #> '{configuration,data}' as configuration, definition -> 'tags' as tags from bots
     where id = :botId`,
    { botId },
  )
  return row && { configuration: row.configuration ?? {}, tags: row.tags ?? {} }
}
