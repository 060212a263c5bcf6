import { query, type Database } from './database.ts'

/** The data that a person confirms at the start of an authorization. */
export interface Authorization {
  link: string
  webhookId: string
  alias: string
  integration: string
  botName: string
}

export async function insertAuthorization(
  db: Database,
  authorization: { tokenHash: Buffer; installationId: string; botId: string; link: string; minutes: number },
): Promise<void> {
  const { tokenHash, installationId, botId, link, minutes } = authorization
  await db('authorizations').insert({
    token_hash: tokenHash,
    installation_id: installationId,
    bot_id: botId,
    link,
    expires_at: db.raw(`now() + ? * interval '1 minute'`, [minutes]),
  })
}

const shown = `link, installations.webhook_id as "webhookId", alias, integration,
       coalesce(bots.name, '') as "botName"`

/** An authorization that has not begun; undefined when it has, or when it has expired. */
export async function findAuthorization(db: Database, tokenHash: Buffer): Promise<Authorization | undefined> {
  const [row] = await query<Authorization>(
    db,
    `select ${shown} from authorizations join installations on installations.id = installation_id
       join bots on bots.id = installations.bot_id
     where token_hash = :tokenHash and expires_at > now()`,
    { tokenHash },
  )
  return row
}

/** Begins an authorization: it cannot begin again. */
export async function takeAuthorization(db: Database, tokenHash: Buffer): Promise<Authorization | undefined> {
  const [row] = await query<Authorization>(
    db,
    `with taken as (
       delete from authorizations where token_hash = :tokenHash and expires_at > now() returning installation_id, link
     )
     select ${shown} from taken join installations on installations.id = installation_id
       join bots on bots.id = installations.bot_id`,
    { tokenHash },
  )
  return row
}

export async function deleteExpiredAuthorizations(db: Database): Promise<void> {
  await db('authorizations').where('expires_at', '<', db.fn.now()).delete()
}
