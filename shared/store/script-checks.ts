import type { ScriptCompilations } from '../models/script.ts'
import type { Database } from './database.ts'

/** @param scripts by the paths of their fields */
export async function insertScriptCheck(db: Database, id: string, scripts: Record<string, string>): Promise<void> {
  await db('script_checks').insert({ id, scripts })
}

/** The scripts of a check; undefined when its request has ended, or when it has an outcome. */
export async function findScriptCheck(db: Database, id: string): Promise<Record<string, string> | undefined> {
  return (await db('script_checks').where({ id }).whereNull('outcome').first('scripts'))?.scripts
}

export async function setCheckOutcome(db: Database, id: string, outcome: ScriptCompilations): Promise<void> {
  await db('script_checks').where({ id }).update({ outcome })
}

/** Undefined while there is no outcome. */
export async function findCheckOutcome(db: Database, id: string): Promise<ScriptCompilations | undefined> {
  return (await db('script_checks').where({ id }).first('outcome'))?.outcome ?? undefined
}

export async function deleteScriptCheck(db: Database, id: string): Promise<void> {
  await db('script_checks').where({ id }).delete()
}

/** Deletes checks whose requesting process has died. */
export async function deleteAbandonedScriptChecks(db: Database): Promise<void> {
  await db('script_checks').where('created_at', '<', db.raw(`now() - interval '10 minutes'`)).delete()
}
