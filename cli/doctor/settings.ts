import { didYouMean } from '../did-you-mean.ts'
import { isPlaintext } from '../plaintext-warning.ts'
import { ConfigError, readConfig, variableNames, type Config } from '#shared/config/config.ts'
import { findingsOf, type Finding } from './finding.ts'

const { ok, warn, fail } = findingsOf('Settings')

/** Of the command line, and of programs that our variables sound like. */
const othersNames = ['ISOBOT_DATA_DIR', 'ISOBOT_URL', 'ISOBOT_TOKEN', 'ISOBOT_WORKSPACE', 'ISOBOT_CONFIG_DIR']
const ourPrefixes = /^(ISOBOT|API|BOT|CHAT|WORKER|SANDBOX|RETENTION|OUTBOUND|QUEUE|METRICS)_/
/** What those are likely to be meant for that begin otherwise. */
const likelyNames = ['DATABASE_URL', 'DATABASE_POOL', 'REDIS_URL', 'REDIS_PREFIX', 'TLS_ALLOW_SELF_SIGNED', 'LOG_LEVEL']
/** Of as many random characters as a secret must have, more are different. */
const minDifferent = 12

/**
 * Reads the settings; without a configuration, what is wrong is among the findings.
 *
 * @param own what is set without anybody's doing
 */
export function checkSettings(
  environment: NodeJS.ProcessEnv,
  own: NodeJS.ProcessEnv = {},
): { config?: Config; findings: Finding[] } {
  const misspelt = findMisspelt(environment)
  try {
    // An empty variable is one that is not set.
    const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value))
    const config = readConfig({ ...own, ...set })
    const weak = findWeak(config)
    const given = variableNames.filter((name) => environment[name]).length
    return { config, findings: [ok(`${given} variables are set, and all are understood`), ...misspelt, ...weak] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { findings: [...problemsOf(error), ...misspelt] }
  }
}

/** Its message has a line for each problem: `  NAME must be …: set it to …`. */
function problemsOf({ message }: ConfigError): Finding[] {
  const lines = message.split('\n').slice(1)
  return lines.map((line) => {
    const [, problem = line, remedy] = /^\s*(.*?)(?:: (.*))?$/.exec(line) ?? []
    return fail(problem.trim(), remedy ?? 'see docs/settings.md for what it may be')
  })
}

function findMisspelt(environment: NodeJS.ProcessEnv): Finding[] {
  const known = new Set([...variableNames, ...othersNames])
  const unknown = Object.keys(environment).filter((name) => environment[name] && !known.has(name))
  return unknown.flatMap((name) => {
    const candidates = ourPrefixes.test(name) ? variableNames : likelyNames
    const meant = didYouMean(name, candidates)
    if (ourPrefixes.test(name)) {
      const hint = meant === undefined ? '' : `, or set ${meant} if that is meant`
      return [warn(`${name} is set, and nothing reads it`, `unset it${hint}`)]
    }
    const isNear = meant !== undefined && name.length === meant.length && name !== meant
    return isNear ? [warn(`${name} is set, and nothing reads it`, `set ${meant} if that is meant`)] : []
  })
}

function findWeak({ secret, adminToken, http }: Config): Finding[] {
  const findings: Finding[] = []
  if (new Set(secret).size < minDifferent) {
    const remedy = 'make another one while nothing is stored, for instance with: openssl rand -hex 32'
    findings.push(warn('ISOBOT_SECRET can be guessed: it has few different characters', remedy))
  }
  if (adminToken !== undefined && new Set(adminToken).size < minDifferent) {
    const remedy = 'make another one, for instance with: openssl rand -hex 32'
    findings.push(warn('ISOBOT_ADMIN_TOKEN can be guessed: it has few different characters', remedy))
  }
  if (isPlaintext(http.baseUrl)) {
    const remedy = 'put TLS in front of the api, and set ISOBOT_BASE_URL to an address that begins with https://'
    findings.push(warn(`ISOBOT_BASE_URL is ${http.baseUrl}: tokens and keys cross the network in the clear`, remedy))
  }
  return findings
}
