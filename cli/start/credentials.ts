import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newToken } from '#shared/ids.ts'
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

/** Reads the credentials of an earlier start from the data folder, or makes new ones. */
export async function openCredentials(directory: string): Promise<Credentials> {
  const file = join(directory, 'credentials.json')
  const earlier = JSON.parse((await readIfPresent(file)) ?? '{}') as Partial<SavedCredentials>
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

async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
