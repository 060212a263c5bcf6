import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../../../cli/connection.ts'
import { convertExport, writeProjects } from '../../../cli/import/v12/import.ts'
import { openBundler } from '../../../cli/project/bundle.ts'
import { deployProject } from '../../../cli/project/deploy.ts'
import { openProject } from '../../../cli/project/project.ts'
import { openConversation } from '../../flows/conversation.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'
import { openExports, pizzeria, type Exports } from './exports.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let exports: Exports
beforeAll(async () => {
  platform = parts.use(await openPlatform({ backEnd: 'postgres' }))
  exports = parts.use(await openExports())
})
afterAll(() => parts.disposeAsync())

/** Imports an export with one bot, and deploys its project. */
async function deployExport(path: string, out: string) {
  const [folder] = await writeProjects(await convertExport(path), `${exports.folder}/projects/${out}`)
  const project = await openProject(folder!)
  const connection = await connect({ name: 'tests', url: platform.url, token: platform.token })
  await using bundler = await openBundler(project)
  const deployed = await deployProject(project, connection, bundler, { checksTypes: false })
  if (!deployed || 'problems' in deployed) throw new Error(JSON.stringify(deployed))
  const { id, integrations } = deployed.bot
  return { id, chatUrl: integrations['chat']!.webhookUrl }
}

test('a project of an archive with choice, capture, redirect, action and Q&A talks as the original', async () => {
  const bot = await deployExport(await exports.pack('pizzeria', pizzeria), 'pizzeria')
  const { say } = await openConversation(platform, bot)
  // Questions are answered while no flow is in progress, by examples.
  expect(await say('is there PARKING')).toEqual(['Behind the house.'])
  expect(await say('hi')).toEqual(['Welcome!', 'What can I do?'])
  expect(await say('what?')).toEqual(['Sorry?', 'What can I do?'])
  expect(await say('the opening hours please')).toEqual(['From 10 to 22.', 'What can I do?'])
  expect(await say('hungry')).toEqual(['Your name?'])
  expect(await say('A')).toEqual(['Your name?'])
  expect(await say('Ada')).toEqual(['Which size, Ada?'])
  // The flow returns to the transitions of its caller; the action changes temp, which the text reads.
  expect(await say('large')).toEqual(['Order 1', '2 large for Ada: 18 euros', 'That is a lot!'])
  expect(await say('when do you open on sundays')).toEqual(['Even on Sundays.', 'From 10 to 22.', 'What can I do?'])
  expect(await say('is there parking')).toEqual(['Sorry?', 'What can I do?'])
  // The second answer that is no option ends the conversation.
  expect(await say('is there parking')).toEqual([])
  expect(await say('hi')).toEqual(['Welcome!', 'What can I do?'])
  expect(await say('1')).toEqual(['Your name?'])
  expect(await say('Bob')).toEqual(['Which size, Bob?'])
  // END in a flow that was called ends the conversation, not only the flow.
  expect(await say('stop')).toEqual([])
  expect(await say('hi')).toEqual(['Welcome!', 'What can I do?'])
})
