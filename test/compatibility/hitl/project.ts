import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AnyProject } from '../../../cli/hub/deploy-project.ts'

const definition = `
  import { BotDefinition } from '@botpress/sdk'
  import chat from './bp_modules/chat'
  import webchat from './bp_modules/webchat'
  import inbox from './bp_modules/inbox'
  import hitl from './bp_modules/hitl'
  export default new BotDefinition({})
    .addIntegration(chat, { enabled: true, configuration: {} })
    .addIntegration(webchat, { enabled: true, configuration: {} })
    .addIntegration(inbox, { enabled: true, configuration: {} })
    .addPlugin(hitl, {
      configuration: { useHumanAgentInfo: true, flowOnHitlStopped: true },
      dependencies: { hitl: { integrationAlias: 'inbox', integrationInterfaceAlias: 'hitl' } },
    })`

/**
 * `/start` with an input as JSON hands the conversation over, and `/stop` with the id of another one takes that back. The bot
 * answers everything else that reaches it.
 */
const code = `
  import * as bp from '.botpress'
  const bot = new bp.Bot({ actions: {} })
  const say = ({ client, ctx }, conversationId, text) =>
    client.createMessage({ conversationId, userId: ctx.botId, tags: {}, type: 'text', payload: { text } })
  bot.on.message('*', async (props) => {
    const { message, user } = props
    const { conversationId } = message
    const [command, argument] = String(message.payload.text).split(/ (.*)/)
    if (command === '/start') {
      const input = { title: 'A person', conversationId, userId: user.id, ...JSON.parse(argument ?? '{}') }
      await bot.actionHandlers['hitl#startHitl']({ ...props, input })
    } else if (command === '/stop') {
      await bot.actionHandlers['hitl#stopHitl']({ ...props, input: { conversationId: argument } })
    } else await say(props, conversationId, 'Bot: ' + message.type)
  })
  bot.on.event('hitl#continueWorkflow', async (props) => {
    await say(props, props.event.payload.conversationId, 'Bot: goes on')
  })
  export default bot`

/**
 * Copies the plugin with its interface, and writes a bot beside it that uses it with the built-in inbox.
 *
 * @param source the checkout, which is not changed
 * @param modules the folder with the modules of the command line, which projects find
 * @returns the projects, in the order in which they are deployed
 */
export async function writeProjects(source: string, folder: string, modules: string): Promise<AnyProject[]> {
  for (const path of ['plugins/hitl', 'interfaces/hitl']) {
    await cp(join(source, path), join(folder, path), { recursive: true })
  }
  await symlink(modules, join(folder, 'node_modules'))
  const bot = join(folder, 'bots', 'helped')
  await mkdir(join(bot, 'src'), { recursive: true })
  const bpDependencies = {
    chat: 'integration:chat@1.0.0',
    webchat: 'integration:webchat@0.3.0',
    inbox: 'integration:inbox@1.0.0',
    hitl: '../../plugins/hitl',
  }
  await writeFile(join(bot, 'package.json'), JSON.stringify({ name: 'helped', private: true, bpDependencies }))
  await writeFile(join(bot, 'tsconfig.json'), JSON.stringify({ compilerOptions: { baseUrl: '.' } }))
  await writeFile(join(bot, 'bot.definition.ts'), definition)
  await writeFile(join(bot, 'src', 'index.ts'), code)
  return [
    { kind: 'interfaces', name: 'hitl', folder: join(folder, 'interfaces', 'hitl') },
    { kind: 'plugins', name: 'hitl', folder: join(folder, 'plugins', 'hitl') },
    { kind: 'bots', name: 'helped', folder: bot },
  ]
}
