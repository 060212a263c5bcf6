import semver from 'semver'

/**
 * The newest version that fits.
 *
 * @param wanted a version, a range, or `latest`; a pre-release is the latest only if there is no release
 */
export function newestFitting(versions: string[], wanted: string): string | null {
  if (wanted !== 'latest') return semver.maxSatisfying(versions, wanted)
  return semver.maxSatisfying(versions, '*') ?? semver.maxSatisfying(versions, '*', { includePrerelease: true })
}
