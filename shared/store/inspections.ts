import type { CompiledCode, InspectionOutcome } from '../models/bot-code.ts'
import { insertBundle } from './bundles.ts'
import type { OwnLimits } from '../config/code-limits.ts'
import { query, type Database } from './database.ts'
import type { BundleRow, InspectionRow } from '../models/tables.ts'

export async function insertInspection(
  db: Database,
  inspection: {
    id: string
    workspaceId: string
    bundleId: string
    /** Absent where the bundle exists. */
    source?: string | undefined
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
    bundle_id: inspection.bundleId,
    source: inspection.source ?? null,
    given_map: inspection.sourceMap ?? null,
    flows: inspection.flows ?? null,
    limits: inspection.limits,
    secrets: inspection.secrets,
  })
}

type AskedInspection = Pick<InspectionRow, 'id' | 'workspace_id' | 'given_map' | 'limits' | 'flows' | 'secrets'> & {
  source: string
  /** The compiled code, where the platform has it from an earlier upload. */
  stored: StoredCode | undefined
}

/** The code of a bundle. */
export type StoredCode = Pick<BundleRow, 'kind' | 'source_map' | 'files'> & { script: string }

/** The input of an inspection; undefined when its request has ended. */
export async function findInspection(db: Database, id: string): Promise<AskedInspection | undefined> {
  const row = await db('inspections')
    .where({ id })
    .first('id', 'workspace_id', 'source', 'given_map', 'limits', 'flows', 'secrets', 'bundle_id')
  // An api of an older version expects the outcome elsewhere.
  if (!row || row.bundle_id === null) return undefined
  const { source, bundle_id: bundleId, ...asked } = row
  if (source !== null) return { ...asked, source, stored: undefined }
  const bundle = await db('bundles').where({ id: bundleId }).first('kind', 'source', 'script', 'source_map', 'files')
  return bundle && { ...asked, source: bundle.source, stored: { ...bundle, script: bundle.script ?? bundle.source } }
}

/** The code that an inspection has compiled and accepted. */
export type AcceptedCode = Omit<CompiledCode, 'bundleId'> & Pick<BundleRow, 'script' | 'source_map' | 'files'>

/** Stores the outcome of an inspection, and a new bundle. */
export async function setInspectionOutcome(
  db: Database,
  id: string,
  outcome: InspectionOutcome,
  accepted?: AcceptedCode,
): Promise<void> {
  await db.transaction(async (transaction) => {
    if (accepted) await insertBundle(transaction, id, accepted)
    await transaction('inspections')
      .where({ id })
      .update({
        outcome,
        ...(accepted && { kind: accepted.kind, flows: accepted.flows, has_flows_in_code: accepted.hasFlowsInCode }),
      })
  })
}

/**
 * Outcomes of workers of an older version, which store no bundles, are ignored.
 *
 * @returns null while there is no outcome; undefined when the inspection was deleted, as with its workspace
 */
export async function findInspectionOutcome(db: Database, id: string): Promise<InspectionOutcome | null | undefined> {
  const [row] = await query<{ outcome: InspectionOutcome | null }>(
    db,
    `select case when outcome ->> 'type' is not null or exists (select from bundles where bundles.id = inspections.bundle_id)
       then outcome end as outcome
     from inspections where id = :id`,
    { id },
  )
  return row?.outcome
}

/** The code of an inspection with the outcome `accepted`. */
export async function findCompiledCode(db: Database, id: string): Promise<CompiledCode> {
  const row = await db('inspections').where({ id }).first('kind', 'bundle_id', 'flows', 'has_flows_in_code')
  if (!row || row.bundle_id === null) throw new Error(`Inspection ${id} has no compiled code`)
  const { kind, bundle_id: bundleId, flows, has_flows_in_code: hasFlowsInCode } = row
  return { kind, bundleId, flows, hasFlowsInCode }
}

export async function deleteInspection(db: Database, id: string): Promise<void> {
  await db('inspections').where({ id }).delete()
}

/** Deletes inspections whose requesting process has died. */
export async function deleteAbandonedInspections(db: Database): Promise<void> {
  await db('inspections').where('created_at', '<', db.raw(`now() - interval '10 minutes'`)).delete()
}
