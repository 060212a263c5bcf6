import { ApiError } from '../errors.ts'
import { rolesIncluding } from '../models/member.ts'
import { tunnelLimits, type TunnelOwner } from '../models/tunnel.ts'
import { query, type Database } from './database.ts'

/** A connection renews its tunnel several times in this period; without, the process of the connection is gone. */
const aliveSeconds = 35

/**
 * Makes a connection the holder of a workspace's tunnel. A former holder loses it: the author's command line connects
 * again, before the platform notices that its former connection is broken.
 *
 * @returns the former holder, if there is one
 * @throws ApiError `LimitExceeded` when the workspace has the maximum of tunnels
 */
export async function claimTunnel(
  db: Database,
  { workspaceId, accountId }: TunnelOwner,
  { id, holder }: { id: string; holder: string },
): Promise<string | undefined> {
  return db.transaction(async (transaction) => {
    // The lock serialises claims, so that concurrent ones do not count the same tunnels.
    await transaction('workspaces').where({ id: workspaceId }).forNoKeyUpdate().first('id')
    const stale = `seen_at < now() - interval '${aliveSeconds} seconds'`
    await transaction('tunnels').where({ workspace_id: workspaceId }).whereRaw(stale).delete()
    const present = await transaction('tunnels').where({ workspace_id: workspaceId }).select('id', 'holder')
    const former = present.find((one) => one.id === id)?.holder
    const { perWorkspace } = tunnelLimits
    if (former === undefined && present.length >= perWorkspace) {
      throw new ApiError('LimitExceeded', `A workspace has at most ${perWorkspace} open tunnels: end a bp dev first`)
    }
    await transaction('tunnels').where({ workspace_id: workspaceId, id }).delete()
    await transaction('tunnels').insert({ workspace_id: workspaceId, account_id: accountId, id, holder })
    return former
  })
}

/** Keeps a tunnel open. False when another connection holds it, or its account is no developer of the workspace now. */
export async function renewTunnel(db: Database, holder: string): Promise<boolean> {
  const rows = await query<{ id: string }>(
    db,
    `update tunnels set seen_at = now() where holder = :holder and exists (
       select from members
       where members.workspace_id = tunnels.workspace_id and members.account_id = tunnels.account_id
         and accepted_at is not null and role = any(:roles)
     ) returning id`,
    { holder, roles: rolesIncluding('developer') },
  )
  return rows.length === 1
}

export async function releaseTunnel(db: Database, holder: string): Promise<void> {
  await db('tunnels').where({ holder }).delete()
}

/** The connection that holds a tunnel of a bot's workspace; undefined when the tunnel is not open. */
export async function findTunnelHolder(db: Database, botId: string, id: string): Promise<string | undefined> {
  const [row] = await query<{ holder: string }>(
    db,
    `select holder from tunnels join bots using (workspace_id)
     where bots.id = :botId and tunnels.id = :id and seen_at > now() - interval '${aliveSeconds} seconds'`,
    { botId, id },
  )
  return row?.holder
}
