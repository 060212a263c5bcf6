import type { ScriptCompilations } from '#shared/models/script.ts'
import { toStorable } from '#shared/models/storable.ts'
import { publishOutcome } from '#shared/signals/after-commit.ts'
import { findScriptCheck, setCheckOutcome } from '#shared/store/script-checks.ts'
import type { WorkerContext } from '../context.ts'
import { orFailed } from '../execution/script-outcomes.ts'

/** Of all scripts of an upload, beyond the first one; each takes about a millisecond. */
const compilingMilliseconds = 5000

/**
 * Compiles uploaded scripts, up to the first one that the compiler cannot finish, and publishes the outcome to the waiting
 * request.
 *
 * @param earlierAttempts attempts of the job that failed before this one
 * @throws InterruptedError when the compiler ended for the first time: the job is requeued at once
 */
export async function checkScripts(
  worker: WorkerContext,
  { scriptCheckId, workspaceId }: { scriptCheckId: string; workspaceId: string },
  earlierAttempts: number,
): Promise<void> {
  const { db, sandbox } = worker
  const scripts = await findScriptCheck(db, scriptCheckId)
  // The request has timed out, or another job has compiled the scripts.
  if (!scripts) return
  const outcome: ScriptCompilations = {}
  let deadline: number | undefined
  for (const [field, script] of Object.entries(scripts)) {
    if (deadline !== undefined && performance.now() > deadline) break
    const compilation = toStorable(await orFailed(sandbox.scripts.compile(workspaceId, script), earlierAttempts))
    outcome[field] = compilation
    // Its process has ended, and the start of another one takes half a second, or half a minute on a busy machine.
    if (compilation.status === 'failed') break
    // The first one may have waited for the start of the compiler.
    deadline ??= performance.now() + compilingMilliseconds
  }
  await setCheckOutcome(db, scriptCheckId, outcome)
  await publishOutcome(worker, scriptCheckId)
}
