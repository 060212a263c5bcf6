import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { failed, misused, unreachable } from './failure.ts'
import { isPlaintext } from './plaintext-warning.ts'
import { isStartRunning } from './start/record.ts'

/** Where a platform is, and as whom to speak with it. */
export interface Profile {
  name: string
  url: string
  token: string
  workspaceId: string
}

/** What the file of profiles holds. */
interface ProfileFile {
  /** The one that is used when none is named. */
  current?: string
  profiles: Record<string, Omit<Profile, 'name'>>
}

/** The platform that `isobot start` runs on this machine. Nobody logs in there: its data folder has all that it takes. */
export const localName = 'local'

/** What the platform is called that `ISOBOT_URL` and `ISOBOT_TOKEN` name, without a profile. */
export const environmentName = 'environment'

/** The data folder of `npm start` and `isobot start`. */
export function dataDirectory(): string {
  return resolve(process.env.ISOBOT_DATA_DIR || join(import.meta.dirname, '..', '.isobot'))
}

/** The file in which profiles are kept, for its owner's eyes only. */
export function profileFile(): string {
  const { ISOBOT_CONFIG_DIR, XDG_CONFIG_HOME } = process.env
  return join(ISOBOT_CONFIG_DIR || join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'isobot'), 'profiles.json')
}

/** All that can be chosen from, and which is used when none is named. */
export async function listProfiles(): Promise<{ profiles: Profile[]; current: string | undefined }> {
  const [{ current, profiles }, local] = await Promise.all([readProfileFile(), readLocal()])
  const stored = Object.entries(profiles).map(([name, profile]) => ({ ...profile, name }))
  return { profiles: [...(local ? [local] : []), ...stored], current: current ?? local?.name }
}

/**
 * The profile to use: the one that is named; else the one that the environment describes; else the one that was chosen
 * last; else the platform that runs on this machine.
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
    throw unreachable(`Nothing was started on this machine: ${profilesHint}`)
  }
  if (wanted !== undefined) {
    const known = profiles.map((profile) => profile.name).join(', ')
    throw misused(`There is no profile "${wanted}"${known && `: there is ${known}`}. \`isobot login\` makes one`)
  }
  throw unreachable(`No platform is known: ${profilesHint}`)
}

const profilesHint =
  'start one here with `isobot start`, log in to one elsewhere with `isobot login --url …`, or set ISOBOT_URL and ' +
  'ISOBOT_TOKEN'

/** Keeps a profile, and uses it from now on when none is named. */
export async function saveProfile({ name, ...profile }: Profile): Promise<void> {
  const { profiles } = await readProfileFile()
  await writeProfileFile({ current: name, profiles: { ...profiles, [name]: profile } })
}

/** Uses a profile from now on when none is named. */
export async function useProfile(name: string): Promise<void> {
  await chooseProfile(name)
  await writeProfileFile({ ...(await readProfileFile()), current: name })
}

/** Forgets a profile. */
export async function removeProfile(name: string): Promise<void> {
  if (name === localName) throw misused(`The profile "${localName}" is the data folder ${dataDirectory()}: it stays`)
  const { current, profiles } = await readProfileFile()
  if (!(name in profiles)) await chooseProfile(name)
  const { [name]: _removed, ...others } = profiles
  await writeProfileFile({ ...(current !== undefined && current !== name && { current }), profiles: others })
}

/** An address as a profile has it, without a slash at its end. */
export function readUrl(text: string): string {
  const url = URL.parse(/^[\w.-]+(:\d+)?$/.test(text) ? withScheme(text) : text)
  if (url && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '')
  throw misused(`"${text}" is no address: give it as https://bots.example.com or http://localhost:3000`)
}

/** What was named without a scheme is meant unencrypted on this machine alone. */
function withScheme(host: string): string {
  const plain = `http://${host}`
  return URL.canParse(plain) && isPlaintext(plain) ? `https://${host}` : plain
}

/**
 * The data folder of the platform that runs on this machine: that of `ISOBOT_DATA_DIR`; else that of the start that was
 * last and is still running, wherever its data are; else the usual one.
 */
export async function localDataDirectory(): Promise<string> {
  const usual = dataDirectory()
  if (process.env.ISOBOT_DATA_DIR || (await isStartRunning(usual))) return usual
  const text = await readIfThere(startedFile())
  return text !== undefined && (await isStartRunning(text.trim())) ? text.trim() : usual
}

/** Lets the command line find a start whose data are not where they usually are. */
export async function announceStart(directory: string): Promise<void> {
  // Where nothing can be written, ISOBOT_DATA_DIR tells it.
  await mkdir(join(startedFile(), '..'), { recursive: true, mode: 0o700 }).catch(() => {})
  await writeFile(startedFile(), `${directory}\n`, { mode: 0o600 }).catch(() => {})
}

/** The file that names the data folder of the last start. */
function startedFile(): string {
  return join(profileFile(), '..', 'started')
}

async function readLocal(): Promise<Profile | undefined> {
  const text = await readIfThere(join(await localDataDirectory(), 'credentials.json'))
  if (text === undefined) return undefined
  const { baseUrl, token, workspaceId } = JSON.parse(text) as Record<string, string | undefined>
  return baseUrl && token && workspaceId ? { name: localName, url: baseUrl, token, workspaceId } : undefined
}

async function readProfileFile(): Promise<ProfileFile> {
  const file = profileFile()
  const text = await readIfThere(file)
  if (text === undefined) return { profiles: {} }
  try {
    return { profiles: {}, ...(JSON.parse(text) as object) }
  } catch (cause) {
    throw failed(`${file} is no JSON: mend it, or remove it and log in again`, { cause })
  }
}

async function writeProfileFile(content: ProfileFile): Promise<void> {
  const file = profileFile()
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
  // Written anew and moved, so that a crash leaves the old or the new one, and so that it is never readable by others.
  const draft = `${file}.${process.pid}`
  await writeFile(draft, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 })
  await rename(draft, file)
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw failed(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
