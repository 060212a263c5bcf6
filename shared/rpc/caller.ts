import type { Context } from '../context.ts'
import { ApiError } from '../errors.ts'
import type { UserKey } from '../models/user-key.ts'
import { includesRole } from '../models/member.ts'
import type { ModelStep } from '../models/run-record.ts'
import { roles, type Role, type Installation } from '../models/tables.ts'

/**
 * The authenticated sender of a request. An operation declares which kind of caller it takes, `dispatch` checks it, and
 * the handler receives a caller of that kind: no entry point can skip the check.
 */
export type Caller = Visitor | ChatUser | BotCaller | Invitee | AccountCaller | Administrator

/** A client without a key at a chat installation's address. */
export interface Visitor {
  kind: 'visitor'
  installation: Installation
}

/** A user of a chat installation, authenticated by a valid key. */
export interface ChatUser {
  kind: 'user'
  installation: Installation
  /** The user's external id, from the key. The user may not exist. */
  externalId: string
  /** The verified claims of the key, by which the user is found. */
  key: UserKey
}

/** A bot: its code in the sandbox, or a program with a token over HTTP. */
export interface BotCaller {
  kind: 'bot'
  botId: string
  /** The installed integration that calls; absent when the bot itself does. */
  installation?: Installation
  /** Present when the integration is named by a token of the bot or of a member, and is not the caller itself. */
  isNamed?: true
  /** Present when a member of the bot's workspace acts as the bot, with a personal token. */
  member?: Omit<Administrator, 'kind'>
  /** Whether the bot's workspace has own keys of language models; absent when that was not looked up. */
  hasModelKeys?: boolean
  /** Present when the bot's code calls while it handles an event. */
  execution?: Execution
}

/** The context of an operation that acts on a bot's behalf. */
export type BotContext = Context & { caller: BotCaller }

/** The message streams that a run has begun and not ended: conversation ids by stream id. */
export type OpenStreams = Map<string, string>

/** A call of language models that has ended. */
export interface ModelCallReport {
  facts: ModelStep
  /** The question and the answer as texts, for bots that keep them. */
  contents(): { prompt: string; answer: string }
}

/** The run on whose behalf a call is made. */
export interface Execution {
  eventId: string
  attempt: number
  /** Identifies the call in the run: the operation, with the actions that led to it, and the call number. */
  call: { operation: string; ordinal: number }
  /** Present when the call is made again because its answer was lost in an outage: it may be recorded. */
  isRetried?: true
  /** The message streams that the run has open. */
  openStreams: OpenStreams
  /** Adds a call of language models to the timeline of the event. */
  reportModelCall?(report: ModelCallReport): Promise<void>
  /** Redacts the secrets of the code in a text that people read, before it is cut. */
  redact?(text: string): string
  /** Runs one of the bot's own actions within the same run. */
  callAction(type: string, input: Record<string, unknown>): Promise<Record<string, unknown>>
  /** Whether the code is an agent of the published runtime. */
  isOfAgent?: boolean
  /** Lets others run while the work is in progress; present where the bot has one event at a time otherwise. */
  lendTurn?: LendTurn
}

/** The events of a bot that may run while another one waits: the actions that it may wait for, or all. */
export type Borrowers = 'actions' | 'all'

export type LendTurn = <Result>(to: Borrowers, work: () => Promise<Result>) => Promise<Result>

/** Does work that takes long, or that waits for code of the bot, while other events of a bot may run that has one at a time. */
export function whileLent<Result>({ caller }: BotContext, to: Borrowers, work: () => Promise<Result>): Promise<Result> {
  return caller.execution?.lendTurn?.(to, work) ?? work()
}

/** The holder of an invitation to a workspace. */
export interface Invitee {
  kind: 'invitee'
  /** SHA-256 of the invitation's secret. */
  invitation: Buffer
  workspaceId: string
  /** The address that was invited. */
  email: string
  /** The account that joins: the holder's own, or the one that was made with the invitation. */
  accountId: string
  /** Whether the request carries a personal token too. */
  hasAccount: boolean
}

/** The token or the session of a person's request. */
interface Credential {
  /** Whether it has not been deleted, or ended, since; for streams, which go on for long. */
  isStillValid?(): Promise<boolean>
}

/** The holder of a personal token, outside any workspace. */
export interface AccountCaller extends Credential {
  kind: 'account'
  accountId: string
}

/** A member of a workspace. */
export interface Administrator extends Credential {
  kind: 'administrator'
  accountId: string
  workspaceId: string
  role: Role
}

/** The role that an operation requires of a member of the workspace; `member` is any. */
export type MemberAccess = 'member' | Role

/**
 * The caller that an operation requires: one of a kind, or a member of a workspace. A `program` acts as the
 * bot that the path names, by the bot's token or a member's, and is never the code of the bot or of an integration. A
 * `token` is any: a person's, who then calls as an account, or that of a bot or an integration.
 */
export type Access = 'visitor' | 'user' | 'bot' | 'program' | 'invitee' | 'account' | 'token' | MemberAccess

/** The caller that a handler of an operation with this access gets. */
export type CallerWith<A extends Access> = A extends MemberAccess
  ? Administrator
  : A extends 'program'
    ? BotCaller
    : A extends 'token'
      ? AccountCaller | BotCaller
      : Extract<Caller, { kind: A }>

/**
 * Checks that a caller has the access that an operation requires.
 * @throws ApiError `Forbidden`
 */
export function authorise(caller: Caller, access: Access): void {
  if (access === 'program') {
    if (caller.kind === 'bot' && !caller.execution && !caller.installation) return
    throw new ApiError('Forbidden', 'This operation is for programs with a token of the bot or of a developer')
  }
  if (access === 'token' && (caller.kind === 'account' || caller.kind === 'bot')) return
  if (!isForMembers(access)) {
    if (caller.kind === access) return
    throw new ApiError('Forbidden', `This operation is for callers of kind '${access}', not '${caller.kind}'`)
  }
  if (caller.kind !== 'administrator') {
    throw new ApiError('Forbidden', 'This operation is for members of a workspace: use a personal token')
  }
  if (access !== 'member' && !hasRole(caller, access)) {
    throw new ApiError(
      'Forbidden',
      `This operation needs the role '${access}' in the workspace; yours is '${caller.role}'`,
    )
  }
}

/** Whether a member's role includes the given one. */
export function hasRole({ role }: Pick<Administrator, 'role'>, needed: Role): boolean {
  return includesRole(role, needed)
}

export function isForMembers(access: Access): access is MemberAccess {
  return access === 'member' || (roles as readonly string[]).includes(access)
}

/** The bot that a caller is, or talks to; undefined for people. */
export function botOf(caller: Caller): string | undefined {
  return 'accountId' in caller ? undefined : tenantOf(caller)
}

/** The id of the tenant whose share of common resources a caller uses: its bot, workspace or account. */
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
