import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '#shared/config/config.ts'
import { limitEntries } from '#shared/config/code-limits.ts'

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'limits.md'), 'utf8')

const least = { DATABASE_URL: 'postgres://localhost/isobot', ISOBOT_SECRET: 's'.repeat(32) }

function problemsOf(environment: NodeJS.ProcessEnv): unknown {
  try {
    return readConfig(environment)
  } catch (error) {
    return error
  }
}

test('the limits of an event are these unless the operator sets others', () => {
  const { limits, highestLimits, net } = readConfig(least).sandbox
  expect(limits).toEqual({
    wallMilliseconds: 60_000,
    cpuMilliseconds: 2000,
    loadMilliseconds: 2000,
    memoryMegabytes: 64,
    hostCalls: 1000,
    hostCallsAtOnce: 32,
    fetches: 50,
    fetchesAtOnce: 6,
    connectionsAtOnce: 20,
    fetchMilliseconds: 30_000,
    fetchMegabytes: 10,
    logLines: 1000,
    logCharacters: 262_144,
    resultCharacters: 1_048_576,
    timers: 64,
  })
  expect(highestLimits.memoryMegabytes).toBe(128)
  expect(net).toEqual([])
})

test.each(limitEntries)(
  '%s has a variable for what is usual and one for the most that a bot may have',
  (name, rule) => {
    const [lowest, most] = rule.range
    const [usual, highest] = [`SANDBOX_${rule.variable}`, `SANDBOX_MAX_${rule.variable}`]
    expect(rule.usual).toBeLessThanOrEqual(rule.highest)
    expect(readConfig({ ...least, [usual]: `${lowest}` }).sandbox.limits[name]).toBe(lowest)
    expect(readConfig({ ...least, [usual]: `${lowest}`, [highest]: `${lowest}` }).sandbox.highestLimits[name]).toBe(
      lowest,
    )
    // A usual limit above the default of the highest one raises that, too.
    expect(readConfig({ ...least, [usual]: `${most}` }).sandbox.highestLimits[name]).toBe(most)
    for (const variable of [usual, highest]) {
      for (const wrong of [most + 1, lowest - 1, `${most}.5`, 'many']) {
        const error = problemsOf({ ...least, [variable]: `${wrong}` })
        expect(error).toBeInstanceOf(ConfigError)
        expect(String(error)).toMatch(
          new RegExp(`^  ${variable} .*: set it to an integer from ${lowest} to ${most}`, 'm'),
        )
      }
    }
    expect(String(problemsOf({ ...least, [usual]: `${most}`, [highest]: `${lowest}` }))).toContain(
      `  ${usual} is ${most}, above ${highest} (${lowest}): lower the first or raise the second`,
    )
  },
)

test.each(limitEntries)('%s is in docs/limits.md as it is', (name, { variable, usual, highest }) => {
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  expect(rows.find(([, limit]) => limit === `\`${name}\``)?.slice(2, 5)).toEqual([
    `\`SANDBOX_${variable}\``,
    `${usual}`,
    `${highest}`,
  ])
})

test('hosts for code that was granted none are a list, or all public ones', () => {
  expect(readConfig({ ...least, SANDBOX_NET: 'api.example.com, *.example.org:8443' }).sandbox.net).toEqual([
    'api.example.com',
    '*.example.org:8443',
  ])
  expect(readConfig({ ...least, SANDBOX_NET: '*' }).sandbox.net).toEqual(['*'])
  for (const wrong of ['https://example.com', 'example.com/path', 'a b', '**', 'example.*']) {
    expect(String(problemsOf({ ...least, SANDBOX_NET: wrong }))).toMatch(
      /^ {2}SANDBOX_NET.*: set it to a comma-separated list of hosts/m,
    )
  }
})
