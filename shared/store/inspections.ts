import type { OwnLimits } from '../models/code-limits.ts'
import type { Database } from './database.ts'
import type { CodeKind, InspectionRow } from './tables.ts'

export async function insertInspection(
  db: Database,
  inspection: { id: string; workspaceId: string; kind: CodeKind; script: string; limits: OwnLimits },
): Promise<void> {
  await db('inspections').insert({
    id: inspection.id,
    workspace_id: inspection.workspaceId,
    kind: inspection.kind,
    script: inspection.script,
    limits: inspection.limits,
  })
}

export async function findInspection(db: Database, id: string): Promise<InspectionRow | undefined> {
  return db('inspections').where({ id }).first()
}

export async function setInspectionOutcome(db: Database, id: string, outcome: object): Promise<void> {
  await db('inspections').where({ id }).update({ outcome })
}

export async function deleteInspection(db: Database, id: string): Promise<void> {
  await db('inspections').where({ id }).delete()
}

/** Deletes inspections whose asking process died. */
export async function deleteAbandonedInspections(db: Database): Promise<void> {
  await db('inspections').where('created_at', '<', db.raw(`now() - interval '10 minutes'`)).delete()
}
