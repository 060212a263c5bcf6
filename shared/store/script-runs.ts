import type { ScriptName, ScriptOutcome } from '../models/script.ts'
import type { IntegrationRow, ScriptRunRow } from '../models/tables.ts'
import { query, type Database } from './database.ts'

export async function insertScriptRun(
  db: Database,
  run: { id: string; integrationId: string; script: ScriptName; input: Record<string, unknown> },
): Promise<void> {
  const { id, integrationId, script, input } = run
  await db('script_runs').insert({ id, integration_id: integrationId, script, input })
}

type AskedScriptRun = Pick<ScriptRunRow, 'script' | 'input' | 'integration_id'> &
  Pick<IntegrationRow, 'workspace_id' | 'definition' | 'secrets'>

/** A run with its integration; undefined when its request has ended. */
export async function findScriptRun(db: Database, id: string): Promise<AskedScriptRun | undefined> {
  const [row] = await query<AskedScriptRun>(
    db,
    `select script_runs.script, input, integration_id, workspace_id, definition, secrets
     from script_runs join integrations on integrations.id = integration_id
     where script_runs.id = :id and outcome is null`,
    { id },
  )
  return row
}

export async function setScriptOutcome(db: Database, id: string, outcome: ScriptOutcome): Promise<void> {
  await db('script_runs').where({ id }).update({ outcome })
}

/** @returns null while there is no outcome; undefined when the run was deleted, as with its integration */
export async function findScriptOutcome(db: Database, id: string): Promise<ScriptOutcome | null | undefined> {
  return (await db('script_runs').where({ id }).first('outcome'))?.outcome
}

export async function deleteScriptRun(db: Database, id: string): Promise<void> {
  await db('script_runs').where({ id }).delete()
}

/** Deletes runs whose requesting process has died. */
export async function deleteAbandonedScriptRuns(db: Database): Promise<void> {
  await db('script_runs').where('created_at', '<', db.raw(`now() - interval '10 minutes'`)).delete()
}
