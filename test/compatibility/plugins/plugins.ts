import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Client as ChatClient, type AuthenticatedClient } from '@botpress/chat'
import { Client } from '@botpress/client'
import { deployProject } from '../../../cli/hub/deploy-project.ts'
import { openBp } from '../../../cli/hub/bp.ts'
import type { Connection } from '../../../cli/connection.ts'
import { buildCli } from '../cli/build-cli.ts'
import { deployIntegrations } from '../stand-in/deploy-integrations.ts'
import { setStates } from '../stand-in/set-states.ts'
import type { VendorRequest } from '../stand-in/stand-in.ts'
import { writeMeasured } from '../write-measured.ts'
import { Desk, deskIntegration } from './desk.ts'
import { writeProjects } from './project.ts'

/** A bot with the plugins, and a person who talks to it. */
interface Scene {
  client: Client
  user: AuthenticatedClient
  conversationId: string
  botId: string
  desk: Desk
  say(text: string): Promise<void>
  /** Waits for the next message to the person. */
  hear(): Promise<string>
  /** Says a text, and waits for the next answer. */
  ask(text: string): Promise<string>
  /** Has the integration create an event. */
  emit(type: string, payload: object): Promise<void>
}

const timeoutMilliseconds = 60_000

/** Waits until an outcome is as expected. */
async function reaches<Outcome>(expected: Outcome, read: () => Promise<Outcome>): Promise<void> {
  const deadline = Date.now() + timeoutMilliseconds
  let last = ''
  while (Date.now() < deadline) {
    last = JSON.stringify(await read().catch((error: Error) => error.message))
    if (last === JSON.stringify(expected)) return
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  throw new Error(`expected ${JSON.stringify(expected)}, not ${last}`)
}

const file = (id: string, name: string) => ({
  id,
  type: 'file',
  name,
  absolutePath: `/${name}`,
  sizeInBytes: 8,
  contentHash: `hash-${id}`,
})

/** The results of the plugins, by plugin, in order. @throws Error when one does not */
const cases: [plugin: string, what: string, attempt: (scene: Scene) => Promise<void>][] = [
  [
    'logger',
    'its hooks for messages and events write lines',
    async ({ client, botId, ask }) => {
      if ((await ask('Hello')) !== 'Bot: Hello') throw new Error('the bot does not answer')
      const written = async () => {
        const timeStart = new Date(Date.now() - 600_000).toISOString()
        const { logs } = await client.getBotLogs({ id: botId, timeStart, timeEnd: new Date().toISOString() })
        const hooks = [
          'before_incoming_message',
          'after_incoming_message',
          'before_outgoing_message',
          'after_outgoing_message',
        ]
        return hooks.filter((hook) => !logs.some(({ message }) => message.includes(hook)))
      }
      await reaches([], written)
    },
  ],
  [
    'conversation-insights',
    'counts the messages and the people in tags of the conversation',
    async ({ client, conversationId }) => {
      await reaches(['2', '1'], async () => {
        const { tags } = (await client.getConversation({ id: conversationId })).conversation
        return ['message_count', 'participant_count'].map((name) => tags[`conversation-insights#${name}`])
      })
    },
  ],
  [
    'analytics',
    'an action counts',
    async ({ client, botId, ask }) => {
      await ask('/track')
      const day = 86_400_000
      const [startDate, endDate] = [Date.now() - day, Date.now() + day].map((time) => new Date(time).toISOString())
      await reaches([2], async () => {
        const { records } = await client.getBotAnalytics({ id: botId, startDate: startDate!, endDate: endDate! })
        return records.flatMap(({ customEvents }) => Object.values(customEvents))
      })
    },
  ],
  [
    'file-synchronizer',
    'a workflow copies the files of all folders, without the excluded ones',
    async ({ ask, client }) => {
      const answer = await ask('/files')
      if (!answer.includes('queued')) throw new Error(answer)
      await reaches(['/deep/three.txt', '/one.txt', '/two.txt'], () => synchronized(client))
    },
  ],
  [
    'file-synchronizer',
    'both of its workflows complete',
    async ({ client }) => {
      await reaches(['completed'], async () => {
        const { workflows } = await client.listWorkflows({})
        return [...new Set(workflows.map(({ status }) => status))]
      })
    },
  ],
  [
    'file-synchronizer',
    'a second run copies nothing again',
    async ({ ask, client }) => {
      const { files: before } = await client.listFiles({})
      const times = before.filter(({ key }) => key.endsWith('.txt')).map(({ key, updatedAt }) => `${key} ${updatedAt}`)
      await ask('/files')
      await reaches([4, 'completed'], async () => {
        const { workflows } = await client.listWorkflows({})
        return [workflows.length, [...new Set(workflows.map(({ status }) => status))].join()]
      })
      const { files } = await client.listFiles({})
      const after = files.filter(({ key }) => key.endsWith('.txt')).map(({ key, updatedAt }) => `${key} ${updatedAt}`)
      if (after.toSorted().join() !== times.toSorted().join()) throw new Error(`${after.join()}, not ${times.join()}`)
    },
  ],
  [
    'file-synchronizer',
    'an event of the interface adds a file, and another one removes it',
    async ({ emit, client }) => {
      await emit('fileCreated', { file: file('f9', 'nine.txt') })
      await reaches(['/deep/three.txt', '/nine.txt', '/one.txt', '/two.txt'], () => synchronized(client))
      await emit('fileDeleted', { file: file('f9', 'nine.txt') })
      await reaches(['/deep/three.txt', '/one.txt', '/two.txt'], () => synchronized(client))
    },
  ],
  [
    'file-synchronizer',
    'an event with several changes makes all of them',
    async ({ emit, client }) => {
      const created = [file('f10', 'ten.txt')]
      await emit('aggregateFileChanges', {
        modifiedItems: { created, updated: [], deleted: [file('f1', 'one.txt')] },
      })
      await reaches(['/deep/three.txt', '/ten.txt', '/two.txt'], () => synchronized(client))
    },
  ],
  [
    'synchronizer',
    'pages of items become rows of a table',
    async ({ ask, client }) => {
      await ask('/papers')
      await ask('/papers')
      await reaches(['p1 1', 'p2 2', 'p3 3'], () => rowsOf(client))
    },
  ],
  [
    'synchronizer',
    'an event of the interface removes the row',
    async ({ emit, client }) => {
      await emit('paperDeleted', { id: 'p2' })
      await reaches(['p1 1', 'p3 3'], () => rowsOf(client))
    },
  ],
  [
    'synchronizer',
    'an action deletes the table',
    async ({ ask, client }) => {
      await ask('/clear')
      await reaches(true, async () => !(await client.listTables({})).tables.some(({ name }) => name === 'papersTable'))
    },
  ],
  [
    'hitl',
    'with `zendesk-messaging-hitl`: a session begins with the history at the desk',
    async ({ ask, desk }) => {
      const answer = await ask('/agent')
      if (!answer.includes('human agent')) throw new Error(answer)
      await reaches([true, true, true], async () =>
        ['Title: A question', 'User: Hello', 'Bot: Bot: Hello'].map((part) => desk.received.join().includes(part)),
      )
    },
  ],
  [
    'hitl',
    'with `zendesk-messaging-hitl`: messages go both ways',
    async ({ say, hear, desk }) => {
      await say('Is somebody there?')
      await reaches('Is somebody there?', async () => desk.received.at(-1)!)
      await desk.reply('I am Grace')
      const heard = [await hear(), await hear()]
      if (!heard.includes('I am Grace')) throw new Error(heard.join())
    },
  ],
  [
    'hitl',
    'with `zendesk-messaging-hitl`: the agent ends the session, and the bot answers again',
    async ({ hear, ask, desk }) => {
      await desk.end()
      const heard = await hear()
      if (!heard.includes('closed the conversation')) throw new Error(heard)
      const answer = await ask('Hello again')
      if (answer !== 'Bot: Hello again') throw new Error(answer)
    },
  ],
]

/** The paths of the files that the plugin has copied. */
async function synchronized(client: Client): Promise<string[]> {
  const { files } = await client.listFiles({})
  const copied = files.filter(({ key, status }) => key.endsWith('.txt') && status === 'upload_completed')
  return copied.map(({ key }) => `/${key.split(':/').at(-1)!.replace(/^\/+/, '')}`).toSorted()
}

async function rowsOf(client: Client): Promise<string[]> {
  const { rows } = await client.findTableRows({ table: 'papersTable', orderBy: '_id' })
  return rows.map((row) => `${row['_id']} ${row['pages']}`)
}

/**
 * Deploys a bot with plugins of a checkout of the public repository, unmodified, and an integration that implements their
 * interfaces, to a platform of its own, and tries what the plugins do.
 *
 * @param writes whether to write the results into the documentation too
 */
export async function measurePlugins(source: string, writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const desk = new Desk()
  const vendors = { [desk.host]: (request: VendorRequest) => desk.answer(request) }
  const names = new Set([deskIntegration])
  const { api } = await deployIntegrations(source, names, { vendors, parts, otherSecrets: 'secret' })
  const platform = api.profile
  const build = process.env['BP_BUILD_DIR'] ?? join(homedir(), '.cache', 'isobot-bp')
  const cli = await buildCli(source, build)
  const copies = join(build, 'catalogue')
  // Below the copies, so that the projects find the modules of both folders above.
  const projects = parts.adopt(await mkdtemp(join(copies, 'plugins-')), (path) => rm(path, { recursive: true }))
  const home = join(projects, 'home')
  await mkdir(home)
  const bp = await openBp(cli.script, platform, home)
  for (const project of await writeProjects(copies, projects)) {
    const { problem } = await deployProject(bp, project)
    if (problem !== '') throw new Error(`${project.kind}/${project.name}: ${problem}`)
  }
  const scene = await openScene(platform, desk)
  await connectDesk(api, scene.botId, desk)
  const rows: string[] = []
  let failed = 0
  for (const [plugin, what, attempt] of cases) {
    const result = await attempt(scene).then(
      () => 'works',
      (error: Error) => `fails: ${error.message.replaceAll(/[|\s]+/g, ' ').slice(0, 300)}`,
    )
    if (result !== 'works') failed += 1
    rows.push(`| ${plugin} | ${what} | ${result} |`)
    console.log(rows.at(-1))
  }
  const total = rows.length
  const summary = `${new Date().toISOString().slice(0, 10)}, \`bp\` ${cli.version}: ${total - failed} of ${total} work.`
  console.log(summary)
  if (failed > 0) process.exitCode = 1
  const lines = [summary, '', '| Plugin | Part | |', '| --- | --- | --- |', ...rows]
  if (writes) await writeMeasured('catalogue.md', lines, 'measured plugins')
}

/** Gives the integration of the desk its account, as its consent page does. */
async function connectDesk(api: Connection, botId: string, desk: Desk): Promise<void> {
  const { bot } = await api.ask<'getBot'>('GET', `/v1/admin/bots/${botId}`)
  const {
    id: integrationId,
    webhookId,
    webhookUrl,
  } = Object.values(bot.integrations).find(({ name }) => name === deskIntegration)!
  await api.ask<'updateIntegration'>('PUT', `/v1/admin/integrations/${integrationId}`, {
    body: { permissions: { net: [desk.host] } },
  })
  await setStates(api, { botId, integrationId }, { credentials: desk.credentials })
  Object.assign(desk, { webhookId, webhookUrl })
}

async function openScene(platform: { url: string; token: string; workspaceId: string }, desk: Desk): Promise<Scene> {
  const credentials = { apiUrl: platform.url, token: platform.token, workspaceId: platform.workspaceId }
  const admin = new Client(credentials)
  const { bots } = await admin.listBots({})
  const { bot } = await admin.getBot({ id: bots[0]!.id })
  const urlOf = (alias: string) => Object.values(bot.integrations).find(({ name }) => name === alias)!.webhookUrl
  const user = await ChatClient.connect({ apiUrl: urlOf('chat') })
  const { conversation } = await user.createConversation({})
  const heard = new Set<string>()
  const scene: Scene = {
    desk,
    client: new Client({ ...credentials, botId: bot.id }),
    user,
    conversationId: conversation.id,
    botId: bot.id,
    async say(text) {
      await user.createMessage({ conversationId: conversation.id, payload: { type: 'text', text } })
    },
    async ask(text) {
      await scene.say(text)
      return scene.hear()
    },
    async hear() {
      let answer: string | undefined
      await reaches(true, async () => {
        const listed = (await user.listMessages({ conversationId: conversation.id })).messages
        const next = listed.toReversed().find(({ id, userId }) => userId !== user.user.id && !heard.has(id))
        if (!next) return false
        heard.add(next.id)
        answer = 'text' in next.payload ? String(next.payload.text) : next.payload.type
        return true
      })
      return answer!
    },
    async emit(type, payload) {
      const response = await fetch(urlOf('cabinet'), { method: 'POST', body: JSON.stringify({ type, payload }) })
      if (!response.ok) throw new Error(`the webhook answers ${response.status}: ${await response.text()}`)
    },
  }
  return scene
}
