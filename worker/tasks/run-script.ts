import { ScriptsError } from '#sandbox/scripts/contract.ts'
import { scriptOf, type ScriptName, type ScriptOutcome } from '#shared/models/script.ts'
import { InterruptedError } from '#shared/queue/queue.ts'
import { publishOutcome } from '#shared/signals/after-commit.ts'
import { readSecrets } from '#shared/store/named-secrets.ts'
import { findScriptRun, setScriptOutcome } from '#shared/store/script-runs.ts'
import type { WorkerContext } from '../context.ts'

/**
 * Runs a script of an integration, and publishes its outcome to the waiting request.
 *
 * @throws InterruptedError when the interpreter ended: the job is requeued at once
 */
export async function runScript(worker: WorkerContext, { scriptRunId }: { scriptRunId: string }): Promise<void> {
  const { db, config, sandbox } = worker
  const run = await findScriptRun(db, scriptRunId)
  // The request has timed out, or another job has run the script.
  if (!run) return
  const script = scriptOf(run.definition, run.script as ScriptName)
  const secrets = await readSecrets(config.secret, { id: run.integration_id, secrets: run.secrets })
  const outcome: ScriptOutcome =
    script === undefined
      ? { status: 'failed', reason: 'The integration has no such script' }
      : await sandbox.scripts.run(run.workspace_id, script, { ...run.input, secrets }).catch((error: unknown) => {
          throw error instanceof ScriptsError ? new InterruptedError(error.message) : error
        })
  await setScriptOutcome(db, scriptRunId, storable(outcome))
  await publishOutcome(worker, scriptRunId)
}

/** PostgreSQL stores neither U+0000 nor lone surrogates. */
function storable(outcome: ScriptOutcome): ScriptOutcome {
  return JSON.parse(JSON.stringify(outcome, cleaned)) as ScriptOutcome
}

function cleaned(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : value
}
