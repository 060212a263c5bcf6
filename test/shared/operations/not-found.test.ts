import { glob, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exampleOfBody } from '#shared/openapi/examples.ts'
import { interfaceOf } from '#shared/openapi/interfaces.ts'
import type { Schema } from '#shared/openapi/schemas.ts'
import * as operations from '#shared/operations/index.ts'
import { notApplicable } from '#shared/operations/not-applicable.ts'
import type { Operation } from '#shared/rpc/operation.ts'
import { createChatUser, type ChatUser } from '../../support/chat-client.ts'
import { openPlatform, send, type DeployedBot, type Platform } from '../../support/platform.ts'

/** Published clients take a 404 for one of a missing resource when its message contains these words. */
const words = /not found/

let platform: Platform
let bot: DeployedBot
let chatUser: ChatUser
beforeAll(async () => {
  platform = await openPlatform({ worker: false, backEnd: 'postgres' })
  bot = await platform.createBot()
  chatUser = await createChatUser(bot.chatUrl)
})
afterAll(() => platform[Symbol.asyncDispose]())

/** These answer alike whether the resource is missing or not for the caller, or whatever is asked for. */
const otherStatuses: Record<string, number> = {
  'chat.listenConversation': 403,
  'chat.listMessages': 403,
  'chat.listParticipants': 403,
  'chat.showTyping': 403,
  'converse.sendSecuredMessage': 403,
  'runtime.listTagValues': 410,
  'admin.getDereferencedPlugin': 400,
  'admin.getDereferencedPublicPluginById': 400,
  'files.listFileTagValues': 400,
  'tables.deleteTableRows': 400,
  'tables.getOrCreateTable': 400,
}

/** Their parameters name nothing that has to exist: a preference that was never set has no value, a provider no key. */
const ofAnyName = new Set([
  ...['Account', 'Workspace'].flatMap((of) => [`get${of}Preference`, `set${of}Preference`]),
  'setModelKey',
])

const parametersOf = ({ path }: Operation) =>
  Array.from(path.matchAll(/\{(\w+)\*?\}/g), ([, name]) => name!).filter((name) => name !== 'webhookId')

/** A request for something that does not exist, with the example of the operation's body or query. */
async function callWithUnknownIds(operation: Operation) {
  const schema = operation.input as Schema
  const inPath = parametersOf(operation)
  const properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([name]) => !inPath.includes(name)),
  )
  const required = (schema.required ?? []).filter((name) => !inPath.includes(name))
  const input = exampleOfBody(interfaceOf(operation.path).name, operation, { ...schema, properties, required })
  const path = operation.path.replaceAll(/\{(\w+)\*?\}/g, (_match, name: string) => {
    if (name === 'webhookId') return bot.webhookId
    return (schema.properties?.[name]?.enum?.[0] as string | undefined) ?? 'absent'
  })
  const query = operation.takesBody ? '' : `?${new URLSearchParams(input as Record<string, string>).toString()}`
  return send(operation.method, `${platform.url}${path}${query}`, operation.takesBody ? input : undefined, {
    authorization: `Bearer ${platform.token}`,
    'x-workspace-id': platform.workspaceId,
    'x-bot-id': bot.id,
    'x-user-key': chatUser.key,
  })
}

describe.each(
  Object.values(operations as unknown as Record<string, Operation>).filter(
    (operation) => parametersOf(operation).length > 0 && !ofAnyName.has(operation.name),
  ),
)('the operation $name', (operation) => {
  test('says of a missing resource that it is not found', async () => {
    const { status, body } = await callWithUnknownIds(operation)
    const otherStatus = otherStatuses[`${interfaceOf(operation.path).name}.${operation.name}`]
    expect(status).toBe(otherStatus ?? 404)
    expect(body?.message).toMatch(otherStatus === undefined ? words : /./)
  })
})

test('a path that no operation has is not found', async () => {
  const paths = ['/v1/admin/nowhere', `/${bot.webhookId}/nowhere`, '/nowhere', '/webhooks/absent']
  const answers = await Promise.all(paths.map((path) => platform.ask('GET', path)))
  for (const { body } of answers) expect(body).toMatchObject({ code: 404, message: expect.stringMatching(words) })
})

test('an operation of the published clients that the platform does not have is refused by name, with the reason', async () => {
  const answers = await Promise.all(
    notApplicable.map(async ({ name, method, path, reason }) => {
      const { status, body } = await platform.ask(
        method,
        path.replaceAll(/[{}]/g, ''),
        method === 'GET' ? undefined : {},
      )
      return { name, status, type: body.type, message: body.message, reason: body.metadata?.reason === reason }
    }),
  )
  for (const { name, ...answer } of answers) {
    const refusal = { status: 405, type: 'MethodNotFound', message: expect.stringContaining(name), reason: true }
    expect(answer).toEqual(refusal)
  }
})

test('no 404 is made but by the function that writes “not found” into its message', async () => {
  const root = new URL('../../../', import.meta.url).pathname
  const makers: string[] = []
  for await (const file of glob('{api,shared,worker}/**/*.ts', { cwd: root, exclude: ['**/main.ts'] })) {
    const source = await readFile(`${root}${file}`, 'utf8')
    if (/new ApiError\(\s*'ResourceNotFound'/.test(source)) makers.push(file)
  }
  expect(makers).toEqual(['shared/errors.ts'])
})
