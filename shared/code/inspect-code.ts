import { awaitOutcome } from '../signals/await-outcome.ts'
import { WaitingRequests } from '../signals/waiting-requests.ts'
import type { Context } from '../context.ts'
import { ApiError } from '../errors.ts'
import { newId } from '../ids.ts'
import type { BotDeclaration, CompiledCode } from '../models/bot-code.ts'
import { bundleId, hashUpload } from './bundle-id.ts'
import type { OwnLimits } from '../config/code-limits.ts'
import { encryptJson } from '../secrets.ts'
import { touchBundle } from '../store/bundles.ts'
import { deleteInspection, findCompiledCode, findInspectionOutcome, insertInspection } from '../store/inspections.ts'

const inspectionTimeoutMilliseconds = 30_000

/** A worker compiles one upload of a workspace at a time, and each that waits holds a request. */
const waiting = new WaitingRequests(100)

/** Code as an administrator sends it. */
export interface UploadedCode {
  code: string
  /** The source map of a bundle, as JSON. */
  sourceMap?: string | undefined
  /** The flows beside the code, as JSON. */
  flows?: string | undefined
  /** The limits of its runs. */
  limits?: OwnLimits | undefined
  /** The secrets of its runs, which many bundles read while they load. */
  secrets?: Record<string, string> | undefined
}

/** Code that a worker has compiled, evaluated once in an isolate and accepted for deployment. */
export type InspectedCode = CompiledCode & BotDeclaration & { hash: string }

/**
 * Requests that a worker compiles the code of a bot or an integration and reports its kind and declaration. This
 * process does not examine the code.
 *
 * @throws ApiError `InvalidPayload` when the code does not parse, throws while it loads, declares a value that is not a
 *   hook, or is a bundle that imports a module which isolates do not provide; or when a flow is not valid
 * @throws ApiError `LimitExceeded` when its compilation exceeds the limits of an upload
 * @throws ApiError `ReferenceNotFound` when the workspace is deleted meanwhile
 * @throws ApiError `OperationTimeout` when no worker answers, or the caller has gone; `RateLimited` when too many uploads
 *   of the workspace wait
 */
export function inspectCode(context: Context, workspaceId: string, upload: UploadedCode): Promise<InspectedCode> {
  return waiting.run(context, { workspaceId }, 'uploads of this workspace', () =>
    askWorker(context, workspaceId, upload),
  )
}

async function askWorker(
  { db, queue, signals, config, callerGone }: Context,
  workspaceId: string,
  { code: source, sourceMap, flows, limits = {}, secrets = {} }: UploadedCode,
): Promise<InspectedCode> {
  const id = newId('check')
  const hash = await hashUpload(source, flows)
  const bundle = await bundleId(hash, sourceMap)
  try {
    const outcome = await awaitOutcome(signals, id, {
      async ask() {
        const encrypted = await encryptJson(config.secret, id, secrets)
        // Code that the platform has already needs neither to be stored nor to be compiled.
        const upload = (await touchBundle(db, bundle)) ? {} : { source, sourceMap }
        await insertInspection(db, { id, workspaceId, bundleId: bundle, ...upload, flows, limits, secrets: encrypted })
        await queue.inspect(id, workspaceId)
      },
      async poll() {
        const outcome = await findInspectionOutcome(db, id)
        if (outcome === undefined) throw workspaceGone(workspaceId)
        return outcome ?? undefined
      },
      // An inspection that is deleted is not begun: a caller who has gone, and may have sent the code again, costs nothing.
      callerGone: callerGone?.(),
      timeoutMilliseconds: inspectionTimeoutMilliseconds,
      timeoutMessage:
        'No worker completed the inspection of the code within 30 s, and nothing was changed: make sure that a worker runs ' +
        'and that its machine is not overloaded, then try again',
    })
    if (outcome.status === 'refused') {
      const { type, message, metadata } = outcome
      throw new ApiError(type, message, { metadata })
    }
    const { status: _status, ...declared } = outcome
    return { ...(await findCompiledCode(db, id)), ...declared, hash }
  } finally {
    await deleteInspection(db, id)
  }
}

function workspaceGone(id: string): ApiError {
  return new ApiError('ReferenceNotFound', `Workspace '${id}' not found: it was deleted while the code was inspected`)
}
