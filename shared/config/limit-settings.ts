import { limitEntries, limitRules, type CodeLimits, type OwnLimits } from './code-limits.ts'

/** The rule of each variable that sets a limit of code: `SANDBOX_CPU_MS`, `SANDBOX_MAX_CPU_MS` and so on. */
export const limitVariables = Object.fromEntries(
  Object.values(limitRules).flatMap(({ variable, range }) => {
    const rule = { type: 'integer', minimum: range[0], maximum: range[1] }
    return [
      [`SANDBOX_${variable}`, rule],
      [`SANDBOX_MAX_${variable}`, rule],
    ]
  }),
)

/** The remedy for each invalid variable. */
export const limitRemedies = Object.fromEntries(
  Object.values(limitRules).flatMap(({ variable, range, usual }) => {
    const numbers = `to an integer from ${range[0]} to ${range[1]}`
    return [
      [`SANDBOX_${variable}`, `set it ${numbers}, or unset it for ${usual}`],
      [`SANDBOX_MAX_${variable}`, `set it ${numbers}: the upper bound for a bot’s own limit`],
    ]
  }),
)

/** The operator's limits. */
export interface LimitSettings {
  /** The limits of a bot that has none of its own. */
  limits: CodeLimits
  /** The upper bounds of a bot's own limits. */
  highestLimits: CodeLimits
}

/** Reads the limits from variables that are each valid. */
export function readLimits(given: Record<string, unknown>): LimitSettings {
  const limits: Partial<CodeLimits> = {}
  const highestLimits: Partial<CodeLimits> = {}
  for (const [name, { variable, usual, highest }] of limitEntries) {
    const limit = Number(given[`SANDBOX_${variable}`] ?? usual)
    limits[name] = limit
    highestLimits[name] = Number(given[`SANDBOX_MAX_${variable}`] ?? Math.max(highest, limit))
  }
  return { limits: limits as CodeLimits, highestLimits: highestLimits as CodeLimits }
}

/** One sentence for each limit that exceeds its own maximum. */
export function limitContradictions({ limits, highestLimits }: LimitSettings): string[] {
  return limitEntries
    .filter(([name]) => limits[name] > highestLimits[name])
    .map(([name, { variable }]) => {
      const max = highestLimits[name]
      return `SANDBOX_${variable} is ${limits[name]}, above SANDBOX_MAX_${variable} (${max}): lower the first or raise the second`
    })
}

/** The limits of a bot: its own, bounded by the operator's present maximum. */
export function allowedLimits({ limits, highestLimits }: LimitSettings, own: OwnLimits): CodeLimits {
  const allowed = limitEntries.map(([name]) => [name, Math.min(own[name] ?? limits[name], highestLimits[name])])
  return Object.fromEntries(allowed) as CodeLimits
}
