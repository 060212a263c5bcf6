import type { InspectionOutcome } from '#shared/models/bot-code.ts'
import { outcomeTopic } from '#shared/signals.ts'
import { findInspection, setInspectionOutcome } from '#shared/store/inspections.ts'
import { limits } from '../limits.ts'
import type { Tools } from '../worker.ts'

/**
 * Evaluates uploaded code once and tells whoever waits what it declares.
 *
 * @throws Error when the inspection was interrupted: the job comes again
 */
export async function inspectCode(tools: Tools, inspectionId: string): Promise<void> {
  const { db, sandbox, signals, config } = tools
  const inspection = await findInspection(db, inspectionId)
  // Whoever asked has given up.
  if (!inspection) return
  const { id, kind, workspace_id: botId, script: code } = inspection
  const bundle = { id, botId, kind, code }
  const outcome = await sandbox.inspect(bundle, limits(config.sandbox))
  if (outcome.status === 'interrupted') throw new Error(`The inspection was interrupted: ${outcome.reason}`)
  const told: InspectionOutcome = outcome
  await setInspectionOutcome(db, inspectionId, told)
  await signals.publish(outcomeTopic(inspectionId), {})
}
