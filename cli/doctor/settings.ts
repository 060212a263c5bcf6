import { didYouMean } from '#shared/did-you-mean.ts'
import { isPlaintext } from '../plaintext-warning.ts'
import { ConfigError, readConfig, variableNames, type Config } from '#shared/config/config.ts'
import { findingsOf, type Finding } from './finding.ts'

const { ok, warn, fail } = findingsOf('Settings')

/** Variables of the command line with the prefix of ours. */
const othersNames = ['ISOBOT_DATA_DIR', 'ISOBOT_URL', 'ISOBOT_TOKEN', 'ISOBOT_WORKSPACE', 'ISOBOT_CONFIG_DIR']
const ourPrefixes =
  /^(ISOBOT|API|BOT|CHAT|WEBCHAT|WORKER|SANDBOX|COMPILE|EXTRACT|RETENTION|OUTBOUND|QUEUE|METRICS|MODELS|EMBEDDINGS)_/
/** Candidates for a misspelt variable without one of our prefixes. */
const likelyNames = ['DATABASE_URL', 'DATABASE_POOL', 'REDIS_URL', 'REDIS_PREFIX', 'TLS_ALLOW_SELF_SIGNED', 'LOG_LEVEL']
/** A random secret of the required length has more different characters. */
const minDifferent = 12

/**
 * Reads the settings. When they are invalid, the configuration is absent and the findings name the problems.
 *
 * @param own the settings that `isobot start` makes by itself; the environment overrides them
 */
export function checkSettings(
  environment: NodeJS.ProcessEnv,
  own: NodeJS.ProcessEnv = {},
): { config?: Config; findings: Finding[] } {
  const misspelt = findMisspelt(environment)
  try {
    // An empty variable counts as unset.
    const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value))
    const config = readConfig({ ...own, ...set })
    const weak = findWeak(config)
    const given = variableNames.filter((name) => environment[name]).length
    return { config, findings: [ok(`${given} variables are set, and all are valid`), ...misspelt, ...weak] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { findings: [...problemsOf(error), ...misspelt] }
  }
}

/** One finding for each line of the message, which reads `  NAME must be …: set it to …`. */
function problemsOf({ message }: ConfigError): Finding[] {
  const lines = message.split('\n').slice(1)
  return lines.map((line) => {
    const [, problem = line, remedy] = /^\s*(.*?)(?:: (.*))?$/.exec(line) ?? []
    return fail(problem.trim(), remedy ?? 'docs/settings.md has the valid values')
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
      return [warn(`${name} is set, but Isobot has no such setting`, `unset it${hint}`)]
    }
    const isNear = meant !== undefined && name.length === meant.length && name !== meant
    return isNear ? [warn(`${name} is set, but Isobot has no such setting`, `set ${meant} if that is meant`)] : []
  })
}

function findWeak({ secret, adminToken, http }: Config): Finding[] {
  const findings: Finding[] = []
  if (new Set(secret.current).size < minDifferent) {
    const remedy = 'generate another value, and replace it: see “Replacing ISOBOT_SECRET” in docs/operating.md'
    findings.push(warn('ISOBOT_SECRET can be guessed: it has few distinct characters', remedy))
  }
  if (adminToken !== undefined && new Set(adminToken).size < minDifferent) {
    const remedy = 'generate another value, for instance with: openssl rand -hex 32'
    findings.push(warn('ISOBOT_ADMIN_TOKEN can be guessed: it has few distinct characters', remedy))
  }
  if (isPlaintext(http.baseUrl)) {
    const remedy = 'put a TLS proxy in front of the api, and set ISOBOT_BASE_URL to its https:// address'
    findings.push(warn(`ISOBOT_BASE_URL is ${http.baseUrl}: tokens and keys cross the network unencrypted`, remedy))
  }
  return findings
}
