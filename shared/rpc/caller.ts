import type { Context } from '../context.ts'
import { ApiError } from '../errors.ts'
import type { UserKey } from '../models/user-key.ts'
import { roles, type Role, type Installation } from '../models/tables.ts'

/**
 * Who asks. An operation says which kind of caller it takes, `answer` checks it, and the handler gets a caller of that
 * kind: neither door can forget.
 */
export type Caller = Visitor | ChatUser | BotCaller | Invitee | AccountCaller | Administrator

/** Somebody at a chat installation's address, without a key. */
export interface Visitor {
  kind: 'visitor'
  installation: Installation
}

/** A user of a chat installation, known by a valid key. */
export interface ChatUser {
  kind: 'user'
  installation: Installation
  /** The id in the key: what the client knows the user by. There may be no such user (any more). */
  externalId: string
  /** What the key says, by which the user is found. */
  key: UserKey
}

/** A bot: its code in the sandbox, or a program with a token over HTTP. */
export interface BotCaller {
  kind: 'bot'
  botId: string
  /** The installed integration as which it acts, when it does not act as the bot itself. */
  installation?: Installation
  /** Present when the bot's code calls while it handles an event. */
  execution?: Execution
}

/** The context of what is done on a bot's behalf. */
export type BotContext = Context & { caller: BotCaller }

/** The message streams that a run has begun and not ended, by their ids, with their conversations. */
export type OpenStreams = Map<string, string>

/** The run on whose behalf a call is made. */
export interface Execution {
  eventId: string
  attempt: number
  /** Which call it is: the operation, with the actions that led to it, and how manieth call of it in the run. */
  call: { operation: string; ordinal: number }
  /** What the run is writing for all to see. */
  openStreams: OpenStreams
  /** Runs one of the bot's own actions within the same run. */
  callAction(type: string, input: Record<string, unknown>): Promise<Record<string, unknown>>
}

/** The holder of an invitation to a workspace. */
export interface Invitee {
  kind: 'invitee'
  /** SHA-256 of its secret. */
  invitation: Buffer
  workspaceId: string
  /** The address that was invited. */
  email: string
  /** The account that joins: the holder's own, or the one that was made with the invitation. */
  accountId: string
  /** Whether the holder showed a personal token too. */
  hasAccount: boolean
}

/** The holder of a personal token, outside any workspace. */
export interface AccountCaller {
  kind: 'account'
  accountId: string
}

/** A member of a workspace. */
export interface Administrator {
  kind: 'administrator'
  accountId: string
  workspaceId: string
  role: Role
}

/** Who may call an operation: a kind of caller, or an administrator of at least a role. */
export type Access = 'visitor' | 'user' | 'bot' | 'invitee' | 'account' | Role

/** The caller that a handler of an operation with this access gets. */
export type CallerWith<A extends Access> = A extends Role ? Administrator : Extract<Caller, { kind: A }>

/**
 * Checks that a caller may call.
 * @throws ApiError `Forbidden`
 */
export function authorise(caller: Caller, access: Access): void {
  if (!isRole(access)) {
    if (caller.kind === access) return
    throw new ApiError('Forbidden', `This operation is for callers of kind '${access}', not '${caller.kind}'`)
  }
  if (caller.kind !== 'administrator') {
    throw new ApiError('Forbidden', 'This operation is for members of a workspace: use a personal token')
  }
  if (!hasRole(caller, access)) {
    throw new ApiError(
      'Forbidden',
      `This operation needs the role '${access}' in the workspace; yours is '${caller.role}'`,
    )
  }
}

/** Whether a member may do what a role may. */
export function hasRole({ role }: Administrator, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least)
}

export function isRole(access: Access): access is Role {
  return (roles as readonly string[]).includes(access)
}

/** Whose share of what all have in common a caller uses: its bot's, its workspace's, or the account's. */
export function tenantOf(caller: Caller): string {
  switch (caller.kind) {
    case 'visitor':
    case 'user':
      return caller.installation.bot_id
    case 'bot':
      return caller.botId
    case 'invitee':
    case 'account':
      return caller.accountId
    case 'administrator':
      return caller.workspaceId
  }
}
