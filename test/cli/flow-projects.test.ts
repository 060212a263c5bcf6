import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../../cli/connection.ts'
import { openBundler } from '../../cli/project/bundle.ts'
import { showProblems, type Problem } from '../../cli/project/code-frame.ts'
import { deployProject } from '../../cli/project/deploy.ts'
import { openProject } from '../../cli/project/project.ts'
import { findCode } from '../../cli/dry-run/find-code.ts'
import { openDryRun } from '../../cli/dry-run/dry-run.ts'
import { openConversation } from '../flows/conversation.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openCommandLine, type CommandLine } from './command-line.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let isobot: CommandLine
beforeAll(async () => {
  platform = parts.use(await openPlatform())
  isobot = parts.use(await openCommandLine(platform))
})
afterAll(() => parts.disposeAsync())

interface Shown {
  bot: { id: string }
  version: { id: string }
  chatUrl: string
}

/** The problems that `isobot deploy` reports of a project, in this process. */
async function problemsOf(folder: string): Promise<string[]> {
  const project = await openProject(folder)
  const connection = await connect({ name: 'tests', url: platform.url, token: platform.token })
  await using bundler = await openBundler(project)
  const deployed = await deployProject(project, connection, bundler, { checksTypes: false })
  const { problems = [] } = deployed as { problems?: Problem[] }
  return Promise.all(problems.map((problem) => showProblems(folder, [problem])))
}

/** A flow of one node that says this. */
const saying = (message: unknown, others: object = {}) => ({
  start: 'only',
  nodes: [{ id: 'only', cards: [{ id: 'greet', type: 'say', message }] }],
  ...others,
})

/** Creates the folder of a project without code. */
async function createProject(name: string, flows: Record<string, object | string>): Promise<string> {
  const folder = join(isobot.folder, name)
  await mkdir(join(folder, 'flows'), { recursive: true })
  await writeFile(join(folder, 'isobot.json'), JSON.stringify({ name }))
  for (const [file, content] of Object.entries(flows)) await writeFlow(folder, file, content)
  return folder
}

const writeFlow = (folder: string, file: string, content: object | string) =>
  writeFile(join(folder, 'flows', file), typeof content === 'string' ? content : JSON.stringify(content, undefined, 2))

const firstReply = async ({ bot, chatUrl }: Shown) =>
  (await openConversation(platform, { id: bot.id, chatUrl })).say('hi')

async function versionOf({ bot, version }: Shown) {
  const path = `/v1/admin/bots/${bot.id}/versions/${version.id}`
  return (await platform.ask('GET', path)).body.version
}

test('a project of flows alone is deployed with its layouts; a changed file makes a version; without files, no flow stays', async () => {
  const layout = { only: { x: 10, y: 20 } }
  const folder = await createProject('alone', { 'main.json': saying('Hello'), 'main.layout.json': layout })
  const first = await isobot.json<Shown>('deploy', folder)
  expect(await firstReply(first)).toEqual(['Hello'])
  expect(await versionOf(first)).toMatchObject({
    flows: [{ id: 'main', ...saying('Hello') }],
    layouts: { main: layout },
  })

  await writeFlow(folder, 'main.json', saying('Good evening'))
  await rm(join(folder, 'flows', 'main.layout.json'))
  const second = await isobot.json<Shown>('deploy', folder)
  expect(second.version.id).not.toBe(first.version.id)
  expect(await versionOf(second)).toMatchObject({ flows: [saying('Good evening')], layouts: {} })

  await rm(join(folder, 'flows'), { recursive: true })
  await mkdir(join(folder, 'src'))
  const code = `export const hooks = { async afterIncomingMessage({ event, client }) {
    await client.createMessage({ conversationId: event.conversationId, type: 'text', payload: { text: 'by code' } }) } }`
  await writeFile(join(folder, 'src', 'index.js'), code)
  await writeFile(join(folder, 'isobot.json'), await withEntry(folder))
  const third = await isobot.json<Shown>('deploy', folder)
  expect(await firstReply(third)).toEqual(['by code'])
  expect(await versionOf(third)).not.toHaveProperty('flows')
})

async function withEntry(folder: string): Promise<string> {
  const settings = JSON.parse(await readFile(join(folder, 'isobot.json'), 'utf8')) as object
  return JSON.stringify({ ...settings, entry: 'src/index.js' })
}

test('a file that is no JSON is named with line and column, a wrong flow with its card; the deployed version stays', async () => {
  const folder = await createProject('wrong', { 'main.json': saying('Hello') })
  const deployed = await isobot.json<Shown>('deploy', folder)

  await writeFlow(folder, 'other.json', '{\n  "start": "a",\n  "nodes": [,]\n}')
  const noJson = await isobot.run(['deploy', folder])
  expect(noJson).toMatchObject({ code: 1, stdout: '' })
  expect(noJson.stderr).toContain('flows/other.json:3:13: is not valid JSON: Unexpected ","')
  expect(noJson.stderr).toContain('> 3 |   "nodes": [,]')

  for (const [content, problem] of [
    ['', 'flows/other.json:1:1: is not valid JSON'],
    ['[]', 'flows/other.json must contain a JSON object'],
    [saying('x', { id: 'another' }), 'flows/other.json has the flow "another"'],
    [saying('x', { start: 'none' }), "flow 'other', field 'start': there is no node 'none'"],
    [saying({ $: '1 +' }), "flow 'other', node 'only', card 'greet', field 'message'"],
    [saying(7), "flow 'other', node 'only', card 'greet', field 'message': must be a text, a message"],
  ] as const) {
    await writeFlow(folder, 'other.json', content)
    expect(await problemsOf(folder)).toEqual([expect.stringContaining(problem)])
  }
  expect(await firstReply(deployed)).toEqual(['Hello'])
})

test('`isobot dev` deploys again when a flow changes, and goes on after a wrong one', async () => {
  const folder = await createProject('developed', { 'main.json': saying({ $: 'nothing +' }) })
  await using run = stoppable(isobot.start(['dev', folder, '--json']))
  const occurrences = () =>
    run.command
      .stdout()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { kind: string } & Shown)
  const deployed = () => occurrences().filter(({ kind }) => kind === 'deployed')
  await expect.poll(() => occurrences().map(({ kind }) => kind), { timeout: 20_000 }).toEqual(['problems'])
  await writeFlow(folder, 'main.json', saying('One'))
  await expect.poll(deployed, { timeout: 20_000 }).toHaveLength(1)
  expect(await firstReply(deployed()[0]!)).toEqual(['One'])
  await writeFlow(folder, 'main.layout.json', { only: { x: 1, y: 2 } })
  await expect.poll(deployed, { timeout: 20_000 }).toHaveLength(2)
  expect(await versionOf(deployed()[1]!)).toMatchObject({ layouts: { main: { only: { x: 1, y: 2 } } } })
})

const noPlatform = () => Promise.reject(new Error('no platform is needed'))

function stoppable(command: ReturnType<CommandLine['start']>) {
  return {
    command,
    async [Symbol.asyncDispose]() {
      command.child.kill('SIGINT')
      await command.ended
    },
  }
}

test('`isobot run` holds conversations with a deployed bot, whose flows are beside its code or in it', async () => {
  const folder = await createProject('beside', { 'main.json': saying('By JSON') })
  await isobot.json<Shown>('deploy', folder)
  const flows = JSON.stringify([{ id: 'main', ...saying('By code') }])
  const inCode = await createProject('within', {})
  await mkdir(join(inCode, 'src'))
  await writeFile(join(inCode, 'src', 'index.ts'), `export const flows = ${flows}`)
  await isobot.json<Shown>('deploy', inCode)
  const connection = await connect({ name: 'tests', url: platform.url, token: platform.token })
  for (const [name, text] of [
    ['beside', 'By JSON'],
    ['within', 'By code'],
  ] as const) {
    await using trial = await openDryRun(await findCode(name, async () => connection))
    expect(await trial.openConversation().say('hi')).toEqual([text])
  }
})

test('`isobot run` loads the flows of a project, and names the card of a wrong one', async () => {
  const folder = await createProject('run', { 'main.json': saying('Hello') })
  {
    await using trial = await openDryRun(await findCode(folder, noPlatform))
    expect(trial.hooks).toEqual([])
  }
  await writeFlow(folder, 'main.json', saying('Hello', { start: 'none' }))
  await expect(findCode(folder, noPlatform).then((code) => openDryRun(code))).rejects.toThrow(
    "flow 'main', field 'start': there is no node 'none'",
  )
})

const asking = (node: string) => ({
  start: node,
  nodes: [{ id: node, cards: [{ id: 'ask', type: 'capture', message: `${node}?`, variable: 'temp.answer' }] }],
})

test('a deployment that removes nodes at which conversations wait is confirmed, or names the nodes in their place', async () => {
  const folder = await createProject('waiting', { 'main.json': asking('name') })
  const { bot, chatUrl } = await isobot.json<Shown>('deploy', folder)
  const { say } = await openConversation(platform, { id: bot.id, chatUrl })
  expect(await say('hi')).toEqual(['name?'])
  await writeFlow(folder, 'main.json', asking('title'))
  const refused = await isobot.run(['deploy', folder])
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('Conversations wait at nodes that the project does not have: main/name (1)')
  const misspelt = await isobot.run(['deploy', folder, '--renamed', 'main/name'])
  expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining('flow/node=flow/node') })
  await isobot.json<Shown>('deploy', folder, '--renamed', 'main/name=main/title')
  expect(await say('Ada')).toEqual([])
  await say('hi')
  await writeFlow(folder, 'main.json', asking('size'))
  const confirmed = await isobot.run(['deploy', folder, '--yes'])
  expect(confirmed).toMatchObject({ code: 0, stdout: expect.stringContaining('main/title (1)') })
})
