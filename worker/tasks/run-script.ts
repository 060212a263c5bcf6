import { scriptOf, type ScriptName, type ScriptOutcome } from '#shared/models/script.ts'
import { toStorable } from '#shared/models/storable.ts'
import { publishOutcome } from '#shared/signals/after-commit.ts'
import { readSecrets } from '#shared/store/named-secrets.ts'
import { findScriptRun, setScriptOutcome } from '#shared/store/script-runs.ts'
import type { WorkerContext } from '../context.ts'
import { orFailed } from '../execution/script-outcomes.ts'

/**
 * Runs a script of an integration, and publishes its outcome to the waiting request.
 *
 * @param earlierAttempts attempts of the job that failed before this one
 * @throws InterruptedError when the interpreter ended for the first time: the job is requeued at once
 */
export async function runScript(
  worker: WorkerContext,
  { scriptRunId }: { scriptRunId: string },
  earlierAttempts: number,
): Promise<void> {
  const { db, config, sandbox } = worker
  const run = await findScriptRun(db, scriptRunId)
  // The request has timed out, or another job has run the script.
  if (!run) return
  const script = scriptOf(run.definition, run.script as ScriptName)
  const secrets = await readSecrets(config.secret, { id: run.integration_id, secrets: run.secrets })
  const outcome: ScriptOutcome =
    script === undefined
      ? { status: 'failed', reason: 'The integration has no such script' }
      : await orFailed(sandbox.scripts.run(run.workspace_id, script, { ...run.input, secrets }), earlierAttempts)
  await setScriptOutcome(db, scriptRunId, toStorable(outcome))
  await publishOutcome(worker, scriptRunId)
}
