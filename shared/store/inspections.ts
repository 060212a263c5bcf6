import type { CompiledCode, InspectionOutcome } from '../models/bot-code.ts'
import type { OwnLimits } from '../config/code-limits.ts'
import type { Database } from './database.ts'
import type { InspectionRow } from '../models/tables.ts'

export async function insertInspection(
  db: Database,
  inspection: {
    id: string
    workspaceId: string
    source: string
    sourceMap?: string | undefined
    flows?: string | undefined
    limits: OwnLimits
    /** Encrypted. */
    secrets: string
  },
): Promise<void> {
  await db('inspections').insert({
    id: inspection.id,
    workspace_id: inspection.workspaceId,
    source: inspection.source,
    given_map: inspection.sourceMap ?? null,
    flows: inspection.flows ?? null,
    limits: inspection.limits,
    secrets: inspection.secrets,
  })
}

type AskedInspection = Pick<InspectionRow, 'id' | 'workspace_id' | 'given_map' | 'limits' | 'flows' | 'secrets'> & {
  source: string
}

/** The input of an inspection; undefined when its request has ended. */
export async function findInspection(db: Database, id: string): Promise<AskedInspection | undefined> {
  const row = await db('inspections')
    .where({ id })
    .first('id', 'workspace_id', 'source', 'given_map', 'limits', 'flows', 'secrets')
  return row && row.source !== null ? { ...row, source: row.source } : undefined
}

export async function setInspectionOutcome(
  db: Database,
  id: string,
  outcome: InspectionOutcome,
  compiled?: CompiledCode,
): Promise<void> {
  await db('inspections')
    .where({ id })
    .update({
      outcome,
      ...(compiled && {
        kind: compiled.kind,
        script: compiled.script,
        source_map: compiled.sourceMap,
        files: compiled.files,
        flows: compiled.flows,
        has_flows_in_code: compiled.hasFlowsInCode,
      }),
    })
}

/** Undefined while there is no outcome. Outcomes of workers of an older version, which cannot compile, are ignored. */
export async function findInspectionOutcome(db: Database, id: string): Promise<InspectionOutcome | undefined> {
  const row = await db('inspections')
    .where({ id })
    .whereRaw(`(script is not null or outcome ->> 'type' is not null)`)
    .first('outcome')
  return (row?.outcome ?? undefined) as InspectionOutcome | undefined
}

/** The code of an inspection with the outcome `accepted`. */
export async function findCompiledCode(db: Database, id: string): Promise<CompiledCode> {
  const row = await db('inspections')
    .where({ id })
    .first('kind', 'script', 'source_map', 'files', 'flows', 'has_flows_in_code')
  if (!row || row.script === null || row.source_map === null) throw new Error(`Inspection ${id} has no compiled code`)
  const { kind, script, source_map: sourceMap, files, flows, has_flows_in_code: hasFlowsInCode } = row
  return { kind, script, sourceMap, files, flows, hasFlowsInCode }
}

export async function deleteInspection(db: Database, id: string): Promise<void> {
  await db('inspections').where({ id }).delete()
}

/** Deletes inspections whose requesting process has died. */
export async function deleteAbandonedInspections(db: Database): Promise<void> {
  await db('inspections').where('created_at', '<', db.raw(`now() - interval '10 minutes'`)).delete()
}
