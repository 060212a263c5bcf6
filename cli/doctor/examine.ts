import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '#shared/config/config.ts'
import { wordsOf } from '#shared/connectivity/connect-errors.ts'
import { findingsOf, type Finding } from './finding.ts'
import { checkAddress } from './address.ts'
import { checkDatabase } from './database.ts'
import { checkMachine } from './machine.ts'
import { checkRedis } from './redis.ts'
import { checkSandbox } from './sandbox.ts'
import { checkSettings } from './settings.ts'
import { checkOwnWorkers, checkWorkers } from './workers.ts'
import type { Profile } from '../profiles.ts'
import { damageRemedy, parseCredentials } from '../start/credentials.ts'

export interface Examination {
  findings: Finding[]
  failures: number
  warnings: number
}

export interface ExaminationOptions {
  environment: NodeJS.ProcessEnv
  /** The data folder of `isobot start`. */
  dataDirectory: string
}

/**
 * Checks everything that the platform needs, from this machine and as its processes would use it. It changes nothing.
 * Without DATABASE_URL it checks the platform of `isobot start`, which has its own database and secret.
 */
export async function examine({ environment, dataDirectory }: ExaminationOptions): Promise<Examination> {
  const isOwn = !environment['DATABASE_URL']
  const own = isOwn ? await ownSettings(dataDirectory) : undefined
  const { config, findings: settings } = checkSettings(environment, own?.environment)
  const machine = await attempt('Machine', checkMachine(config, own?.isStarted ? dataDirectory : undefined))
  const others = config ? await Promise.all(checksFor(config, own)) : []
  const start = own ? [describeStart(own.isStarted, dataDirectory), ...own.problems] : []
  const findings = [...start, ...settings, ...machine, ...others.flat()]
  const count = (grade: Finding['grade']) => findings.filter((finding) => finding.grade === grade).length
  return { findings, failures: count('fail'), warnings: count('warn') }
}

function checksFor(config: Config, own: OwnSettings | undefined): Promise<Finding[]>[] {
  return [
    // `isobot start` runs the server and migrates the database itself.
    ...(own ? [] : [attempt('Database', checkDatabase(config))]),
    attempt('Redis', checkRedis(config)),
    attempt('Sandbox', checkSandbox(config)),
    attempt('Address', checkAddress(config)),
    own
      ? own.profile
        ? attempt('Workers', checkOwnWorkers(own.profile))
        : Promise.resolve([])
      : attempt('Workers', checkWorkers(config)),
  ]
}

interface OwnSettings {
  isStarted: boolean
  environment: NodeJS.ProcessEnv
  /** Present after the first start. */
  profile?: Omit<Profile, 'name'>
  problems: Finding[]
}

/** The settings that `isobot start` makes by itself. */
async function ownSettings(directory: string): Promise<OwnSettings> {
  const read = async (name: string) => readFile(join(directory, name), 'utf8').catch(() => undefined)
  const [secret, credentials] = await Promise.all([read('secret'), read('credentials.json')])
  const stored = parseCredentials(credentials ?? '{}')
  const { baseUrl, token, workspaceId } = stored ?? {}
  const environment = {
    DATABASE_URL: 'postgres://localhost/of-isobot-start',
    // As long as the secret that the first start makes.
    ISOBOT_SECRET: secret ?? '0123456789abcdef'.repeat(4),
    ...(baseUrl && { ISOBOT_BASE_URL: baseUrl }),
  }
  const profile = baseUrl && token && workspaceId ? { url: baseUrl, token, workspaceId } : undefined
  return {
    isStarted: secret !== undefined,
    environment,
    ...(profile && { profile }),
    problems: stored
      ? []
      : [findingsOf('Platform').fail(`${join(directory, 'credentials.json')} is not valid JSON`, damageRemedy)],
  }
}

function describeStart(isStarted: boolean, directory: string): Finding {
  const { ok } = findingsOf('Platform')
  return isStarted
    ? ok(`DATABASE_URL is not set: \`isobot start\` runs an embedded database in ${directory}`)
    : ok('DATABASE_URL is not set: `isobot start` will run an embedded database. Set it in production')
}

/** Turns the error of a check into a finding. */
async function attempt(area: string, check: Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check
  } catch (error) {
    const { fail } = findingsOf(area)
    return [fail(`This check failed: ${wordsOf(error)}`, 'follow the message, or report it as a bug')]
  }
}
