import type { Config } from '../../config/config.ts'
import { ApiError } from '../../errors.ts'
import { limitEntries, type OwnLimits } from '../../config/code-limits.ts'

/** @throws ApiError `InvalidPayload` when a bot's limits exceed those that the operator allows, naming each */
export function assertAllowed({ sandbox: { highestLimits } }: Config, limits: OwnLimits): void {
  const above = limitEntries.filter(([name]) => (limits[name] ?? 0) > highestLimits[name])
  if (above.length === 0) return
  const problems = above.map(([name, { variable }]) => {
    return `limits.${name} may be at most ${highestLimits[name]}, which the operator sets with SANDBOX_MAX_${variable}`
  })
  throw new ApiError('InvalidPayload', problems.join('; '))
}
