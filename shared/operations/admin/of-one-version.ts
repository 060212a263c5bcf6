import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '../../errors.ts'
import { findDeployedUpload } from '../../store/bots.ts'
import type { Database } from '../../store/database.ts'
import { toUpload, type SentParts, type VersionUpload } from './to-upload.ts'

/**
 * An upload of code alone keeps the deployed flows, and one of flows alone the deployed code. They are read before the
 * inspection, which takes seconds, and must still be the deployed ones when the version is stored.
 */

/** Uploads of one bot at the same time are few; a larger number is a client that repeats itself. */
const maxUploads = 5

/** Another upload has been deployed, of which this one keeps a part that it has read before. */
class DeployedMeanwhileError extends ApiError {
  constructor() {
    super('ResourceLockedConflict', 'Other uploads for this bot were deployed meanwhile: try again')
  }
}

/** Runs an upload again, while other ones deploy parts that it keeps. */
export async function ofOneVersion<Result>(upload: () => Promise<Result>): Promise<Result> {
  for (let uploads = 1; ; uploads += 1) {
    try {
      return await upload()
    } catch (error) {
      if (!(error instanceof DeployedMeanwhileError) || uploads === maxUploads) throw error
    }
  }
}

/** @throws DeployedMeanwhileError when the parts that the upload keeps of the deployed version are others now */
export async function assertSameParts(
  transaction: Database,
  botId: string,
  sent: SentParts,
  upload: VersionUpload,
): Promise<void> {
  const now = toUpload(sent, await findDeployedUpload(transaction, botId))
  if (!isDeepStrictEqual(now, upload)) throw new DeployedMeanwhileError()
}
