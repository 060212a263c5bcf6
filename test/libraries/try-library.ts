import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from '../../cli/connection.ts'
import { openBundler } from '../../cli/project/bundle.ts'
import { deployProject } from '../../cli/project/deploy.ts'
import { createChatUser } from '../support/chat-client.ts'
import type { Addresses } from './backing-servers.ts'
import type { LibraryCase } from './cases.ts'

/** How a library got on. */
export type Outcome =
  | { kind: 'works'; bundleSize: number }
  /** It was not deployed: what it needs is not in an isolate. */
  | { kind: 'refused'; reason: string }
  /** It was deployed, and its call failed, or came to something else. */
  | { kind: 'fails'; reason: string }

const bot = `import { answer } from './library.ts'

export const hooks = {
  async afterIncomingMessage({ event, client }) {
    const addresses = JSON.parse(event.preview)
    const text = String(await answer(addresses.url, addresses))
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text } })
  },
}
`

const patienceMilliseconds = 30_000

/**
 * Has a bot call a library: bundled and deployed as `isobot deploy` does, run by a real platform.
 *
 * @param folder in which the library is installed
 * @param addresses of the servers that it may ask
 */
export async function tryLibrary(
  connection: Connection,
  folder: string,
  { source, expects, form }: Pick<LibraryCase, 'source' | 'expects' | 'form'>,
  addresses: Addresses,
): Promise<Outcome> {
  const project = join(folder, 'project')
  await rm(project, { recursive: true, force: true })
  await mkdir(project)
  await writeFile(join(project, 'index.js'), bot)
  await writeFile(join(project, 'library.ts'), source)
  const settings = {
    name: `library-${Date.now()}`,
    permissions: { net: Object.values(addresses).map((address: string) => new URL(address).host) },
    ...(form && { packages: form }),
  }
  await writeFile(join(project, 'isobot.json'), JSON.stringify(settings))
  const whole = { folder: project, entry: 'index.js', settings }
  await using bundler = await openBundler(whole)
  const deployed = await deployProject(whole, connection, bundler, { checksTypes: false })
  if (!deployed || 'problems' in deployed) {
    return { kind: 'refused', reason: deployed?.problems[0]?.message ?? 'nothing to deploy' }
  }
  const { id, integrations } = deployed.bot
  try {
    const said = await ask(connection, id, integrations['chat']!.webhookUrl, JSON.stringify(addresses))
    if ('failure' in said) return { kind: 'fails', reason: said.failure }
    if (said.text !== expects) return { kind: 'fails', reason: `it gives “${said.text}” and not “${expects}”` }
    return { kind: 'works', bundleSize: deployed.bundle.code.length }
  } finally {
    await connection.ask('DELETE', `/v1/admin/bots/${id}`)
  }
}

/** The reply of the bot, or the reason of its failure. */
async function ask(
  connection: Connection,
  botId: string,
  chatUrl: string,
  words: string,
): Promise<{ text: string } | { failure: string }> {
  const chatUser = await createChatUser(chatUrl)
  const conversationId = await chatUser.createConversation()
  await chatUser.send(conversationId, words)
  const until = Date.now() + patienceMilliseconds
  while (Date.now() < until) {
    const reply = (await chatUser.messages(conversationId)).find(({ userId }) => userId !== chatUser.userId)
    if (reply) return { text: reply.text }
    const { events } = await connection.ask<'listBotEvents'>('GET', `/v1/admin/bots/${botId}/events`)
    const failed = events.find(({ status }) => status === 'failed')
    if (failed) return { failure: failed.failureReason ?? 'it failed' }
    await delay(50)
  }
  return { failure: 'no answer' }
}
