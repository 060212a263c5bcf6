import { tellOutcome } from '#shared/after-commit.ts'
import type { InspectionOutcome } from '#shared/models/bot-code.ts'
import { InterruptedError } from '#shared/queue.ts'
import { findInspection, setInspectionOutcome } from '#shared/store/inspections.ts'
import { limitsOf } from '../limits.ts'
import type { Tools } from '../worker.ts'

/**
 * Evaluates uploaded code once and tells whoever waits what it declares.
 *
 * @throws InterruptedError when the inspection was interrupted: the job comes again at once
 */
export async function inspectCode(tools: Tools, inspectionId: string): Promise<void> {
  const { db, sandbox, config } = tools
  const inspection = await findInspection(db, inspectionId)
  // Whoever asked has given up.
  if (!inspection) return
  const { id, kind, workspace_id: botId, script: code, limits } = inspection
  const bundle = { id, botId, kind, code }
  const outcome = await sandbox.inspect(bundle, limitsOf(config.sandbox, limits))
  if (outcome.status === 'interrupted') throw new InterruptedError(`The inspection was interrupted: ${outcome.reason}`)
  const told: InspectionOutcome = outcome
  await setInspectionOutcome(db, inspectionId, told)
  await tellOutcome(tools, inspectionId)
}
