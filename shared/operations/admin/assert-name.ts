import semver from 'semver'
import { ApiError } from '../../errors.ts'
import { builtInIntegration } from '../../models/installation.ts'

/**
 * Checks what a new integration is to be called, beyond what its schema says.
 * @throws ApiError `InvalidPayload`, or `AlreadyExists` for the name of the platform's own
 */
export function assertName(name: string, version: string): void {
  if (name === builtInIntegration) {
    throw new ApiError('AlreadyExists', `The name '${name}' is reserved by the platform: choose another name`)
  }
  // A version is looked up as it is written, so there is one way to write it.
  if (semver.valid(version) === version) return
  throw new ApiError('InvalidPayload', `version must be a semantic version such as 1.0.0, not '${version}'`)
}
