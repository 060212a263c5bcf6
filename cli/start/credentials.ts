import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { newToken } from '#shared/ids.ts'
import { isRecord } from '#shared/models/payload.ts'
import { failed } from '../failure.ts'
import { readIfPresent } from '../read-if-present.ts'
import { replaceFile } from '../replace-file.ts'

/** The credentials for the platform that `npm start` runs, for people and tests. */
export interface SavedCredentials {
  baseUrl: string
  chatUrl: string
  workspaceId: string
  /** The administrator's token. */
  token: string
  /** The example bot, and the webhook id of its chat. */
  botId: string
  webhookId: string
}

export interface Credentials {
  token: string
  /** The id of an earlier start's example bot. */
  botId?: string
  /** The secret of this data folder, which serves as `ISOBOT_SECRET` when that variable is unset. */
  secret: string
  /** Writes `credentials.json`, readable by its owner only. */
  save(saved: Omit<SavedCredentials, 'token'>): Promise<SavedCredentials>
}

/** The remedy for a `credentials.json` that a full disk, or an editor, has damaged. */
export const damageRemedy = 'correct it, or remove it and start the platform again'

/** The credentials in the text of a `credentials.json`, some of which may be absent; undefined when it is damaged. */
export function parseCredentials(text: string): Partial<SavedCredentials> | undefined {
  try {
    const stored: unknown = JSON.parse(text)
    return isRecord(stored) ? stored : undefined
  } catch {
    return undefined
  }
}

/**
 * Reads a `credentials.json`, some of whose fields may be absent.
 *
 * @returns undefined when there is no such file
 * @throws Failure when the file is damaged or cannot be read
 */
export async function readCredentials(file: string): Promise<Partial<SavedCredentials> | undefined> {
  const text = await readIfPresent(file)
  if (text === undefined) return undefined
  const stored = parseCredentials(text)
  if (!stored) throw failed(`${file} is not valid JSON: ${damageRemedy}`)
  return stored
}

/** Reads the credentials of an earlier start from the data folder, or makes new ones. */
export async function openCredentials(directory: string): Promise<Credentials> {
  const file = join(directory, 'credentials.json')
  const earlier = (await readCredentials(file)) ?? {}
  const token = process.env.ISOBOT_ADMIN_TOKEN ?? earlier.token ?? newToken()
  return {
    token,
    ...(earlier.botId && { botId: earlier.botId }),
    secret: await openSecret(join(directory, 'secret')),
    async save(rest) {
      const saved = { ...rest, token }
      await replaceFile(file, `${JSON.stringify(saved, undefined, 2)}\n`, 0o600)
      return saved
    },
  }
}

async function openSecret(file: string): Promise<string> {
  const earlier = await readIfPresent(file)
  if (earlier) return earlier
  const secret = randomBytes(32).toString('hex')
  await replaceFile(file, secret, 0o600)
  return secret
}
