import semver from 'semver'
import { ApiError } from '../../errors.ts'
import { isBuiltInName } from '../../models/chat-integration.ts'

/**
 * Checks the name and the version of a new integration, beyond their schemas.
 * @throws ApiError `InvalidPayload`, or `AlreadyExists` for the name of a built-in integration
 */
export function assertName(name: string, version: string): void {
  if (isBuiltInName(name)) {
    throw new ApiError('AlreadyExists', `The name '${name}' is reserved by the platform: choose another name`)
  }
  // Versions are looked up by their text, so only the canonical form is accepted.
  if (semver.valid(version) === version) return
  throw new ApiError('InvalidPayload', `version must be a semantic version such as 1.0.0, not '${version}'`)
}
