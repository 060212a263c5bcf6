import type { IncomingHttpHeaders } from 'node:http'
import {
  authorise,
  hasRole,
  isForMembers,
  type AccountCaller,
  type Administrator,
  type BotCaller,
  type Caller,
  type ChatUser,
  type Invitee,
  type Visitor,
} from '#shared/rpc/caller.ts'
import type { Context } from '#shared/context.ts'
import { ApiError, notFound } from '#shared/errors.ts'
import type { Operation } from '#shared/rpc/operation.ts'
import type { PathParameters } from '#shared/router.ts'
import { hashToken } from '#shared/secrets.ts'
import { findInvitation } from '#shared/store/invitations.ts'
import {
  findMemberForBot,
  findRole,
  findToken,
  findTokenForBot,
  workspaceExists,
  type HolderForBot,
  type TokenHolder,
} from '#shared/store/accounts.ts'
import { decryptInstallation, findChat, listInstallations } from '#shared/store/installations.ts'
import type { Installation } from '#shared/models/tables.ts'
import { verifyUserKey, verifyVisitorKey } from '#shared/integrations/user-keys.ts'
import { isChat, isWebchat } from '#shared/models/chat-integration.ts'
import { findAccountOfSession } from '#shared/store/sessions.ts'
import { isSessionToken, verifySessionToken } from './sign-in/session-token.ts'
import { isAllowedOrigin, webchatConfigurationOf } from '#shared/models/webchat-configuration.ts'

/** Authenticates the caller of an HTTP request from its headers and path, as the operation's `access` requires. */
export function identify(context: Context, headers: IncomingHttpHeaders) {
  return async (operation: Operation, parameters: PathParameters): Promise<Caller> => {
    const { access } = operation
    if (access === 'visitor' || access === 'user') {
      const isForPages = operation.path.startsWith('/webchat/')
      const found = await (isForPages ? webchatVisitor(context, headers, parameters) : visitor(context, parameters))
      return access === 'user' ? chatUser(context, headers, found) : found
    }
    if (access === 'invitee') return invitee(context, headers)
    if (access === 'bot') return bot(context, headers)
    if (access === 'program') return bot(context, { ...onlyToken(headers), 'x-bot-id': parameters['botId'] })
    const token = await bearer(context, headers)
    if (access === 'token' && !token.account_id) {
      return bot(context, { ...headers, ...(token.bot_id !== null && { 'x-bot-id': token.bot_id }) }, token)
    }
    const account = holder(token)
    return isForMembers(access) ? administrator(context, headers, account) : account
  }
}

/**
 * The caller of an address that names a bot: a program with a token of the bot, or of a developer of its workspace.
 * @throws ApiError `Unauthorized`, `Forbidden`
 */
export async function program(context: Context, headers: IncomingHttpHeaders, botId: string): Promise<BotCaller> {
  const caller = await bot(context, { ...onlyToken(headers), 'x-bot-id': botId })
  authorise(caller, 'program')
  return caller
}

/**
 * The caller of a chat's address, with or without a key.
 * @throws ApiError `ResourceNotFound` when no chat has this address
 */
export async function visitor(context: Context, { webhookId = '', botId }: PathParameters): Promise<Visitor> {
  if (botId !== undefined) return visitorOfBot(context, botId)
  const installation = await context.installations.find(webhookId)
  if (!installation || !isChat(installation)) throw notFound(`Chat '${webhookId}'`)
  return { kind: 'visitor', installation }
}

/**
 * The caller of a web chat's address, with or without a key, from a page of an allowed origin.
 * @throws ApiError `ResourceNotFound` when no web chat has this address, `Forbidden` for a page of another origin
 */
async function webchatVisitor(
  context: Context,
  headers: IncomingHttpHeaders,
  { webhookId = '' }: PathParameters,
): Promise<Visitor> {
  const installation = await findWebchat(context, webhookId)
  const { origin } = headers
  const page = { origin, site: single(headers['sec-fetch-site']) }
  if (isAllowedOrigin(webchatConfigurationOf(installation), page, context.config.http.baseUrl)) {
    return { kind: 'visitor', installation }
  }
  throw new ApiError(
    'Forbidden',
    `Pages of ${origin ?? 'an unknown origin'} may not use this web chat: add the origin to its configuration, allowedOrigins`,
  )
}

/** The installation at a web chat's address. @throws ApiError `ResourceNotFound` */
export async function findWebchat({ installations }: Context, webhookId: string): Promise<Installation> {
  const installation = await installations.find(webhookId)
  if (!installation?.enabled || !isWebchat(installation)) throw notFound(`Web chat '${webhookId}'`)
  return installation
}

/** The caller of an address that names the bot and not its chat. @throws ApiError `ResourceNotFound` */
async function visitorOfBot({ db, config }: Context, botId: string): Promise<Visitor> {
  const installation = await findChat(db, config.secret, botId)
  if (!installation) throw notFound(`Bot '${botId}'`)
  return { kind: 'visitor', installation }
}

async function chatUser(
  { config }: Context,
  headers: IncomingHttpHeaders,
  { installation }: Visitor,
): Promise<ChatUser> {
  const key = single(headers['x-user-key'])
  if (!key) throw new ApiError('Unauthorized', 'The header x-user-key is missing: create a user to get a key')
  const verify = isWebchat(installation) ? verifyVisitorKey : verifyUserKey
  const verified = await verify(installation, config.secret, key)
  return { kind: 'user', installation, externalId: verified.externalUserId, key: verified }
}

/** The account that accepts an invitation: that of the personal token, else the one created with the invitation. */
async function invitee(context: Context, headers: IncomingHttpHeaders): Promise<Invitee> {
  const secret = single(headers['x-invitation'])
  const hash = hashToken(secret ?? '')
  const invitation = secret && (await findInvitation(context.db, hash))
  if (!invitation) {
    const problem = secret ? 'is not valid: request a new invitation' : 'is missing: send the secret of the invitation'
    throw new ApiError('Unauthorized', `The invitation of the header x-invitation ${problem}`)
  }
  const own = headers.authorization === undefined ? undefined : holder(await bearer(context, headers))
  const { workspace_id: workspaceId, account_id: invitedId, email } = invitation
  return {
    kind: 'invitee',
    invitation: hash,
    workspaceId,
    email,
    accountId: own?.accountId ?? invitedId,
    hasAccount: own !== undefined,
  }
}

/** The headers without those that name whom to act as. */
function onlyToken({ authorization }: IncomingHttpHeaders): IncomingHttpHeaders {
  return authorization === undefined ? {} : { authorization }
}

/** The holder of a token, with whether the token remains valid. */
type KnownHolder = TokenHolder & Pick<AccountCaller, 'isStillValid'>

/** The holder of the request's token. */
async function bearer(context: Context, headers: IncomingHttpHeaders): Promise<KnownHolder> {
  return holderOf(context, headers, (hash) => findToken(context.db, hash))
}

/** The same, for a bot. */
async function bearerForBot(
  context: Context,
  headers: IncomingHttpHeaders,
  botId: string,
): Promise<TokenHolder & Partial<HolderForBot>> {
  const found = await holderOf(context, headers, (hash) => findTokenForBot(context.db, hash, botId))
  if (found.account_id === null || 'member' in found) return found
  return { ...found, member: await findMemberForBot(context.db, botId, found.account_id) }
}

/** @param find finds a token that is not of a session */
async function holderOf<Found extends TokenHolder>(
  context: Context,
  headers: IncomingHttpHeaders,
  find: (hash: Buffer) => Promise<Found | undefined>,
): Promise<(Found | TokenHolder) & KnownHolder> {
  const [, secret] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (secret === undefined) throw missingOrInvalid()
  if (isSessionToken(secret)) return ownerOfSession(context, secret)
  const hash = hashToken(secret)
  const token = await find(hash)
  if (token) return { ...token, isStillValid: async () => (await findToken(context.db, hash)) !== undefined }
  if (secret.startsWith('inv_')) {
    throw new ApiError(
      'Unauthorized',
      'This is an invitation, not a token: accept it first, in the console or with acceptInvitation',
    )
  }
  throw missingOrInvalid()
}

function missingOrInvalid(): ApiError {
  return new ApiError('Unauthorized', 'The token is missing or invalid: send the header Authorization: Bearer <token>')
}

/** The account whose session a page of the console has the token of. */
async function ownerOfSession({ db, config }: Context, token: string): Promise<KnownHolder> {
  const sessionId = await verifySessionToken(config.secret, token)
  const accountId = sessionId && (await findAccountOfSession(db, sessionId))
  if (accountId) {
    // A page gets a new token every few minutes: what counts is the session.
    const isStillValid = async () => (await findAccountOfSession(db, sessionId)) !== undefined
    return { account_id: accountId, bot_id: null, integration_id: null, isStillValid }
  }
  throw new ApiError('Unauthorized', 'The session or its token has ended: get a new token, or sign in again')
}

function holder({ account_id: accountId, isStillValid }: KnownHolder): AccountCaller {
  if (accountId) return { kind: 'account', accountId, ...(isStillValid && { isStillValid }) }
  throw new ApiError('Forbidden', 'This operation needs a personal token, not the token of a bot')
}

async function administrator(
  { db }: Context,
  headers: IncomingHttpHeaders,
  { kind: _kind, ...account }: AccountCaller,
): Promise<Administrator> {
  const { accountId } = account
  const workspaceId = single(headers['x-workspace-id'])
  if (!workspaceId)
    throw new ApiError('Unauthorized', 'The header x-workspace-id is missing: GET /v1/admin/workspaces lists them')
  const role = await findRole(db, workspaceId, accountId)
  if (role) return { kind: 'administrator', ...account, workspaceId, role }
  if (await workspaceExists(db, workspaceId)) {
    throw new ApiError('Forbidden', `You are not a member of the workspace '${workspaceId}'`)
  }
  throw new ApiError(
    'Unauthorized',
    `The x-workspace-id '${workspaceId}' is not valid: GET /v1/admin/workspaces lists them`,
  )
}

/**
 * A bot's own token acts as that bot, and a personal token as any bot of a workspace where the account's role suffices;
 * both may act as an integration that is installed on the bot. An integration's token acts as that integration, on the
 * bots where it is installed and enabled.
 *
 * @param known the holder of the request's token, when it is not an account
 */
async function bot(context: Context, headers: IncomingHttpHeaders, known?: TokenHolder): Promise<BotCaller> {
  const botId = single(headers['x-bot-id'])
  if (!botId) {
    if (!known) await bearer(context, headers)
    throw new ApiError('InvalidPayload', 'The header x-bot-id is missing: it names the bot to act as')
  }
  const { member, hasModelKeys, ...token }: TokenHolder & Partial<HolderForBot> =
    known ?? (await bearerForBot(context, headers, botId))
  const models = hasModelKeys !== undefined && { hasModelKeys }
  const named = { id: single(headers['x-integration-id']), alias: single(headers['x-integration-alias']) }
  if (token.integration_id) {
    const installation = await installationOf(context, botId, token.integration_id, named)
    return { kind: 'bot', botId, installation, ...models }
  }
  if (token.bot_id !== botId && !(member && hasRole(member, 'developer'))) {
    throw new ApiError('Forbidden', `The token may not act as the bot '${botId}'`)
  }
  const caller: BotCaller = { kind: 'bot', botId, ...(member && { member }), ...models }
  if (named.id === undefined) return caller
  const installation = await findInstalled(context, botId, named.id, named.alias)
  if (installation) return { ...caller, installation, isNamed: true }
  throw notFound(`Integration '${named.id}'`, 'the integration that x-integration-id names is not installed on the bot')
}

/** The installation as which the token of an integration acts. @throws ApiError when it is none, or disabled */
async function installationOf(
  context: Context,
  botId: string,
  integrationId: string,
  { id = integrationId, alias }: { id?: string | undefined; alias?: string | undefined },
): Promise<Installation> {
  if (id === integrationId) {
    const installation = await findInstalled(context, botId, integrationId, alias)
    if (installation?.enabled) return installation
  }
  throw new ApiError('Forbidden', `The token may not act as this integration on the bot '${botId}'`)
}

/**
 * An integration as it is installed on a bot.
 *
 * @param alias selects one installation when there are several
 * @returns undefined when it is not installed
 * @throws ApiError `InvalidPayload` when several are installed and the alias is missing, or when none has the alias
 */
async function findInstalled(
  { db, config }: Context,
  botId: string,
  integrationId: string,
  alias?: string,
): Promise<Installation | undefined> {
  const installed = await listInstallations(db, botId)
  const candidates = installed.filter((row) => row.integration_id === integrationId)
  const [chosen, ...others] = alias === undefined ? candidates : candidates.filter((row) => row.alias === alias)
  if (chosen && others.length === 0) return decryptInstallation(chosen, config.secret)
  if (candidates.length === 0) return undefined
  throw new ApiError(
    'InvalidPayload',
    `The header x-integration-alias must name one of ${candidates.map((row) => `'${row.alias}'`).join(', ')}`,
  )
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
