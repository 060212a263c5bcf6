import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { isRecord } from '#shared/models/payload.ts'
import { isPackaged } from '#shared/process/is-packaged.ts'
import { failed, misused, unreachable } from './failure.ts'
import { isPlaintext } from './plaintext-warning.ts'
import { readIfPresent } from './read-if-present.ts'
import { replaceFile } from './replace-file.ts'
import { readCredentials } from './start/credentials.ts'
import { isStartRunning } from './start/record.ts'

/** The address of a platform with the credentials for it. */
export interface Profile {
  name: string
  url: string
  token: string
  workspaceId: string
}

/** The content of the profiles file. */
interface ProfileFile {
  /** The default profile. */
  current?: string
  profiles: Record<string, Omit<Profile, 'name'>>
}

/** The profile of the platform that `isobot start` runs on this machine. Its data folder has the credentials. */
export const localName = 'local'

/** The profile name of the platform that `ISOBOT_URL` and `ISOBOT_TOKEN` specify. */
export const environmentName = 'environment'

/** The data folder of `npm start` and `isobot start`: beside the sources, or in the present folder. */
export function dataDirectory(): string {
  // The folder of the published package is replaced with each update.
  const home = isPackaged ? process.cwd() : join(import.meta.dirname, '..')
  return resolve(process.env.ISOBOT_DATA_DIR || join(home, '.isobot'))
}

/** The profiles file, readable by its owner only. */
export function profileFile(): string {
  const { ISOBOT_CONFIG_DIR, XDG_CONFIG_HOME } = process.env
  return join(ISOBOT_CONFIG_DIR || join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'isobot'), 'profiles.json')
}

/** All profiles, and the name of the default one. */
export async function listProfiles(): Promise<{ profiles: Profile[]; current: string | undefined }> {
  const [{ current, profiles }, local] = await Promise.all([readProfileFile(), readLocal()])
  const stored = Object.entries(profiles).map(([name, profile]) => ({ ...profile, name }))
  return { profiles: [...(local ? [local] : []), ...stored], current: current ?? local?.name }
}

/**
 * The profile to use: the named one; else that of the environment; else the default profile; else the platform that runs
 * on this machine.
 * @throws Failure when there is none
 */
export async function chooseProfile(name?: string): Promise<Omit<Profile, 'workspaceId'> & { workspaceId?: string }> {
  const { ISOBOT_URL, ISOBOT_TOKEN, ISOBOT_WORKSPACE } = process.env
  if (name === undefined && (ISOBOT_URL || ISOBOT_TOKEN)) {
    if (!ISOBOT_URL || !ISOBOT_TOKEN) {
      const [missing, present] = ISOBOT_URL ? ['ISOBOT_TOKEN', 'ISOBOT_URL'] : ['ISOBOT_URL', 'ISOBOT_TOKEN']
      throw misused(`${present} is set and ${missing} is not: set both, or neither to use a profile`)
    }
    return {
      name: environmentName,
      url: readUrl(ISOBOT_URL),
      token: ISOBOT_TOKEN,
      ...(ISOBOT_WORKSPACE && { workspaceId: ISOBOT_WORKSPACE }),
    }
  }
  const { profiles, current } = await listProfiles()
  const wanted = name ?? current
  const found = profiles.find((profile) => profile.name === wanted)
  if (found) return found
  if (wanted === localName) {
    throw unreachable(`No platform was started on this machine: ${profilesHint}`)
  }
  if (wanted !== undefined) {
    const known = profiles.map((profile) => profile.name).join(', ')
    throw misused(
      `There is no profile "${wanted}"${known && `; the profiles are ${known}`}. \`isobot login\` creates one`,
    )
  }
  throw unreachable(`There is no profile: ${profilesHint}`)
}

const profilesHint =
  'start a platform here with `isobot start`, log in to one with `isobot login --url …`, or set ISOBOT_URL and ' +
  'ISOBOT_TOKEN'

/** Saves a profile and makes it the default. */
export async function saveProfile({ name, ...profile }: Profile): Promise<void> {
  const { profiles } = await readProfileFile()
  await writeProfileFile({ current: name, profiles: { ...profiles, [name]: profile } })
}

/** Makes a profile the default. */
export async function useProfile(name: string): Promise<void> {
  await chooseProfile(name)
  await writeProfileFile({ ...(await readProfileFile()), current: name })
}

/** Removes a profile from the profiles file. */
export async function removeProfile(name: string): Promise<void> {
  if (name === localName)
    throw misused(`The profile "${localName}" cannot be removed: it is the data folder ${dataDirectory()}`)
  const { current, profiles } = await readProfileFile()
  if (!Object.hasOwn(profiles, name)) await chooseProfile(name)
  const { [name]: _removed, ...others } = profiles
  await writeProfileFile({ ...(current !== undefined && current !== name && { current }), profiles: others })
}

/** Normalizes an address: with a scheme and without a trailing slash. */
export function readUrl(text: string): string {
  const url = URL.parse(/^[\w.-]+(:\d+)?$/.test(text) ? withScheme(text) : text)
  if (url && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '')
  throw misused(`"${text}" is not a valid address: write it as https://bots.example.com or http://localhost:3000`)
}

/** Adds `http` to a host of this machine and `https` to any other. */
function withScheme(host: string): string {
  const plain = `http://${host}`
  return URL.canParse(plain) && isPlaintext(plain) ? `https://${host}` : plain
}

/**
 * The data folder of the platform that runs on this machine: that of `ISOBOT_DATA_DIR`; else the default folder if a
 * start runs there; else that of the last announced start that still runs; else the default folder.
 */
export async function localDataDirectory(): Promise<string> {
  const usual = dataDirectory()
  if (process.env.ISOBOT_DATA_DIR || (await isStartRunning(usual))) return usual
  for (const directory of await readStarted()) if (await isStartRunning(directory)) return directory
  return usual
}

/**
 * The data folder for commands of operators: the default folder if it has a platform, even one that is stopped; else that of
 * the platform that runs. A backup, for instance, must not be of another platform of this machine.
 */
export async function operatedDataDirectory(usual = dataDirectory()): Promise<string> {
  return existsSync(join(usual, 'secret')) ? usual : localDataDirectory()
}

/** Records a start's data folder, so that the command line finds one outside the default folder. */
export async function announceStart(directory: string): Promise<void> {
  const earlier = (await readStarted().catch(() => [])).filter((other) => other !== directory)
  const started = [directory, ...earlier].slice(0, maxStarted)
  // If the file cannot be written, users have to set ISOBOT_DATA_DIR.
  await mkdir(join(startedFile(), '..'), { recursive: true, mode: 0o700 }).catch(() => {})
  await replaceFile(startedFile(), started.map((each) => `${each}\n`).join(''), 0o600).catch(() => {})
}

/** Starts whose data folders are known. */
const maxStarted = 20

/** The data folders of the last starts, the last one first. */
async function readStarted(): Promise<string[]> {
  const text = (await readIfPresent(startedFile())) ?? ''
  return text.split('\n').filter((directory) => directory !== '')
}

/** The file that names the data folders of the last starts, one on each line. */
function startedFile(): string {
  return join(profileFile(), '..', 'started')
}

async function readLocal(): Promise<Profile | undefined> {
  const stored = await readCredentials(join(await localDataDirectory(), 'credentials.json'))
  const { baseUrl, token, workspaceId } = stored ?? {}
  return baseUrl && token && workspaceId ? { name: localName, url: baseUrl, token, workspaceId } : undefined
}

async function readProfileFile(): Promise<ProfileFile> {
  const file = profileFile()
  const text = await readIfPresent(file)
  if (text === undefined) return { profiles: {} }
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (cause) {
    throw failed(`${file} is not valid JSON: correct it, or remove it and log in again`, { cause })
  }
  if (isProfileFile(content)) return content
  throw failed(`${file} has no valid profiles: correct it, or remove it and log in again`)
}

function isProfileFile(content: unknown): content is ProfileFile {
  if (!isRecord(content) || !isRecord(content['profiles'])) return false
  return Object.values(content['profiles']).every(
    (profile) =>
      isRecord(profile) && ['url', 'token', 'workspaceId'].every((field) => typeof profile[field] === 'string'),
  )
}

async function writeProfileFile(content: ProfileFile): Promise<void> {
  const file = profileFile()
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
  await replaceFile(file, `${JSON.stringify(content, undefined, 2)}\n`, 0o600)
}
