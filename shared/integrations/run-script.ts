import type { Context } from '../context.ts'
import { notFound } from '../errors.ts'
import { newId } from '../ids.ts'
import type { ScriptName, ScriptOutcome } from '../models/script.ts'
import { awaitOutcome } from '../signals/await-outcome.ts'
import { WaitingRequests } from '../signals/waiting-requests.ts'
import { deleteScriptRun, findScriptOutcome, insertScriptRun } from '../store/script-runs.ts'

const timeoutMilliseconds = 20_000

/** Anybody may send requests to the address of all installations. */
const waiting = new WaitingRequests(100)

/**
 * Has a worker run a script of an integration. This process neither compiles nor evaluates it.
 *
 * @param input the object that the script sees; a worker adds the secrets of the integration
 * @throws ApiError `ResourceNotFound` when the integration is deleted meanwhile, `OperationTimeout` when no worker answers, `RateLimited` when too many scripts of the integration wait
 */
export function runScript(
  context: Context,
  integration: { id: string; workspaceId: string },
  script: ScriptName,
  input: Record<string, unknown>,
): Promise<ScriptOutcome> {
  return waiting.run(
    context,
    { workspaceId: integration.workspaceId, id: integration.id },
    'requests for scripts of this integration',
    () => askWorker(context, integration, script, input),
  )
}

async function askWorker(
  { db, queue, signals }: Context,
  integration: { id: string; workspaceId: string },
  script: ScriptName,
  input: Record<string, unknown>,
): Promise<ScriptOutcome> {
  const id = newId('check')
  try {
    return await awaitOutcome(signals, id, {
      async ask() {
        await insertScriptRun(db, { id, integrationId: integration.id, script, input })
        await queue.runScript(id, integration.workspaceId)
      },
      async poll() {
        const outcome = await findScriptOutcome(db, id)
        if (outcome === undefined) throw notFound('Integration', 'it was deleted while its script ran')
        return outcome ?? undefined
      },
      timeoutMilliseconds,
      timeoutMessage:
        'No worker ran the script of the integration within 20 s: make sure that a worker runs, then try again',
    })
  } finally {
    await deleteScriptRun(db, id)
  }
}
