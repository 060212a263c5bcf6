import { isForMembers, type Access } from '../rpc/caller.ts'
import type { Stability } from '../rpc/operation.ts'

/** One of the platform's APIs, or a part of one: its operations share an address, credentials and an audience. */
export interface Interface {
  /** The name of its folder in `shared/operations/`. */
  name: 'chat' | 'webchat' | 'converse' | 'runtime' | 'files' | 'tables' | 'models' | 'admin'
  /** The tag that groups its operations in the document. */
  tag: string
  prefix: string
  description: string
}

const interfaces: Interface[] = [
  {
    name: 'chat',
    tag: 'Chat',
    prefix: '/chat/{webhookId}',
    description:
      'For users of a bot, from browsers and servers. The URL names the bot’s chat; ' +
      '`createUser` returns the key for the header `x-user-key`.',
  },
  {
    name: 'webchat',
    tag: 'Webchat',
    prefix: '/webchat/{webhookId}',
    description:
      'For pages with the published web chat, `@botpress/webchat`, and for clients of its protocol. `initialize` returns ' +
      'the key for the header `x-user-key`.',
  },
  {
    name: 'converse',
    tag: 'Converse',
    prefix: '/api/v1/bots',
    description:
      'For clients of v12: one request sends a message, and its answer has the messages of the bot. Closed unless the ' +
      'configuration of the bot’s chat opens it.',
  },
  {
    name: 'runtime',
    tag: 'Runtime',
    prefix: '/v1/chat',
    description:
      'For bots and integrations: each operation is also a method of `client` in bot code. Over HTTP it requires ' +
      'a token, and the header `x-bot-id`, which names the bot to act as.',
  },
  {
    name: 'tables',
    tag: 'Tables',
    prefix: '/v1/tables',
    description:
      'Tables of a bot: columns, rows, and what finds them. Callers and headers are those of the runtime API.',
  },
  {
    name: 'files',
    tag: 'Files',
    prefix: '/v1/files',
    description:
      'Files of bots, found by tags, and the knowledge bases that they belong to. The API takes descriptions: bytes go to ' +
      'the address that `upsertFile` gives, and come from the `url` of a file. Callers are those of the runtime.',
  },
  {
    name: 'models',
    tag: 'Models',
    prefix: '/v2/cognitive',
    description:
      'Language models of the operator’s providers, with the operator’s keys. Callers and headers are those of the runtime ' +
      'API.',
  },
  // A tag of its own: the page of the API draws all operations of a tag only where they are fewer than some 140
  // (`api/docs/page.js`).
  {
    name: 'admin',
    tag: 'Bots',
    prefix: '/v1/admin/bots',
    description:
      'The Admin API of bots: code, versions, limits, logs, events, handovers. Callers and headers are those of Admin.',
  },
  {
    name: 'admin',
    tag: 'Admin',
    prefix: '/v1/admin',
    description:
      'For developers and administrators of bots. It requires a personal token and the header `x-workspace-id`; ' +
      '`listWorkspaces` lists the workspaces of a token.',
  },
]

const stabilities: { name: Stability; description: string }[] = [
  { name: 'documented', description: 'Operations of the platform’s specification, whose interface is stable.' },
  {
    name: 'experimental',
    description:
      'Operations that published clients do not have. Their fields may change with a version; its notes list the changes.',
  },
]

export const tags: { name: string; description: string }[] = [
  ...interfaces.map(({ tag, description }) => ({ name: tag, description })),
  ...stabilities,
]

/**
 * The interface that a path belongs to.
 * @throws Error when the path belongs to none
 */
export function interfaceOf(path: string): Interface {
  const found = interfaces.find(({ prefix }) => `${path}/`.startsWith(`${prefix}/`))
  if (!found) throw new Error(`No interface of the API has the path ${path}: add it in shared/openapi/interfaces.ts`)
  return found
}

export const securitySchemes = {
  userKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-user-key',
    description: 'The key of a chat user: a JSON Web Token, which `createUser` returns.',
  },
  token: { type: 'http', scheme: 'bearer', description: 'A token of a person, a bot or an integration.' },
  invitation: {
    type: 'apiKey',
    in: 'header',
    name: 'x-invitation',
    description: 'The secret of an invitation to a workspace, which `createWorkspaceMember` returns.',
  },
  botId: { type: 'apiKey', in: 'header', name: 'x-bot-id', description: 'The bot to act as.' },
  workspaceId: { type: 'apiKey', in: 'header', name: 'x-workspace-id', description: 'The workspace to act in.' },
}

/** The credentials of an operation: one entry of the list, with all schemes that it names. */
export function securityOf(access: Access): Record<string, []>[] {
  if (access === 'visitor') return []
  if (access === 'user') return [{ userKey: [] }]
  if (access === 'bot') return [{ token: [], botId: [] }]
  if (access === 'program') return [{ token: [] }]
  if (access === 'invitee') return [{ invitation: [] }, { invitation: [], token: [] }]
  return [isForMembers(access) ? { token: [], workspaceId: [] } : { token: [] }]
}

/** One sentence about the callers that have an access. */
export function callersOf(access: Access): string {
  if (access === 'visitor') return 'For all callers that know the URL.'
  if (access === 'user') return 'For users of the chat.'
  if (access === 'bot') return 'For bots and integrations, and for developers who act as one.'
  if (access === 'program') return 'For programs with a token of the bot, and for developers of its workspace.'
  if (access === 'invitee') return 'For holders of an invitation, with or without a personal token.'
  if (access === 'account') return 'For holders of a personal token.'
  if (access === 'token') return 'For holders of a token of a person, a bot or an integration, and for code of both.'
  if (access === 'member') return 'For members of the workspace.'
  if (access === 'agent') return 'For agents of the workspace, and for members with the role developer or above.'
  return access === 'owner'
    ? 'For owners of the workspace.'
    : `For members of the workspace with the role ${access} or above.`
}
