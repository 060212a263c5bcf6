import { rolesIncluding } from '../models/member.ts'
import { maxListedMembers, presenceMilliseconds } from '../models/presence.ts'
import { query, type Database } from './database.ts'

/** The account of a member of a workspace. */
export interface MemberKey {
  workspaceId: string
  accountId: string
}

export interface Heartbeat {
  isAway: boolean
  presentUntil: Date
  /** Whether colleagues see another status than before. */
  isChange: boolean
}

/**
 * Records that a member's inbox is open.
 *
 * @param isAway absent: as before
 * @returns undefined when the account is no member of the workspace
 */
export async function recordHeartbeat(
  db: Database,
  member: MemberKey & { isAway?: boolean | undefined },
): Promise<Heartbeat | undefined> {
  const [row] = await query<{ is_away: boolean; present_until: Date; was_away: boolean | null }>(
    db,
    `with former as (
       select is_away from member_presences
       where workspace_id = :workspaceId and account_id = :accountId and present_until > clock_timestamp()
     )
     insert into member_presences as present (workspace_id, account_id, is_away, present_until)
     select workspace_id, account_id, coalesce(:isAway::boolean, false),
       clock_timestamp() + ${presenceMilliseconds} * interval '1 millisecond'
     from members where workspace_id = :workspaceId and account_id = :accountId and accepted_at is not null
     on conflict (workspace_id, account_id) do update
       set is_away = coalesce(:isAway::boolean, present.is_away), present_until = excluded.present_until
     returning is_away, present_until, (select is_away from former) as was_away`,
    { ...member, isAway: member.isAway ?? null },
  )
  return row && { isAway: row.is_away, presentUntil: row.present_until, isChange: row.is_away !== row.was_away }
}

/** Ends a member's presence; the choice to be away stays. @returns whether the member was present */
export async function endPresence(db: Database, { workspaceId, accountId }: MemberKey): Promise<boolean> {
  const count = await db('member_presences')
    .where({ workspace_id: workspaceId, account_id: accountId })
    .whereRaw('present_until > clock_timestamp()')
    .update({ present_until: db.fn.now() })
  return count === 1
}

export interface PresentMemberRow {
  account_id: string
  name: string
  picture_url: string | null
  status: 'online' | 'away' | 'offline'
  open_handovers: number
}

const status = `case when present_until > clock_timestamp() then case when is_away then 'away' else 'online' end
  else 'offline' end`

/** The members of a workspace who may answer in conversations, those who are online first. */
export async function listPresences(db: Database, workspaceId: string): Promise<PresentMemberRow[]> {
  return query(
    db,
    `with answering as (
       select members.account_id, accounts.name, picture_url, ${status} as status
       from members join accounts on accounts.id = members.account_id
         left join member_presences using (workspace_id, account_id)
       where members.workspace_id = :workspaceId and accepted_at is not null and role = any(:roles)
       order by array_position(array['online', 'away', 'offline'], ${status}), lower(accounts.name), members.account_id
       limit ${maxListedMembers}
     )
     select answering.*, (
       select count(*) from handovers join bots on bots.id = bot_id
       where account_id = answering.account_id and ended_at is null and workspace_id = :workspaceId
     )::integer as open_handovers from answering
     order by array_position(array['online', 'away', 'offline'], status), lower(name), account_id`,
    { workspaceId, roles: rolesIncluding('agent') },
  )
}

export interface PresentCounts {
  online: number
  away: number
}

const countStatuses = `select count(*) filter (where not is_away)::integer as online,
  count(*) filter (where is_away)::integer as away
  from member_presences join members using (workspace_id, account_id)`
const isPresent = 'present_until > clock_timestamp() and accepted_at is not null and role = any(:roles)'

/** How many members who may answer for a bot are online, and away. */
export async function countPresent(db: Database, botId: string): Promise<PresentCounts> {
  const [row] = await query<PresentCounts>(
    db,
    `${countStatuses} join bots using (workspace_id) where bots.id = :botId and ${isPresent}`,
    { botId, roles: rolesIncluding('agent') },
  )
  return row!
}

/** How many members are online, and away, in all workspaces together. */
export async function countAllPresent(db: Database): Promise<PresentCounts> {
  const [row] = await query<PresentCounts>(db, `${countStatuses} where ${isPresent}`, {
    roles: rolesIncluding('agent'),
  })
  return row!
}
