import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { AnyProject } from '../../../cli/hub/deploy-project.ts'
import { deskIntegration } from './desk.ts'

/** The plugins of the public repository that the bot uses, and the interfaces that they need. */
const plugins = ['logger', 'analytics', 'file-synchronizer', 'synchronizer', 'conversation-insights', 'hitl']
const interfaces = ['files-readonly', 'listable', 'creatable', 'updatable', 'deletable', 'hitl']

/** An integration with folders and files, and a list of items. Its webhook changes them. */
const cabinet = {
  'integration.definition.ts': `
    import { IntegrationDefinition, z } from '@botpress/sdk'
    import filesReadonly from './bp_modules/files-readonly'
    import listable from './bp_modules/listable'
    import deletable from './bp_modules/deletable'
    export default new IntegrationDefinition({
      name: 'cabinet',
      version: '1.0.0',
      title: 'Cabinet',
      description: 'Folders and items',
      configuration: { schema: z.object({}) },
      entities: { paper: { schema: z.object({ id: z.string(), title: z.string(), pages: z.number() }) } },
    })
      .extend(filesReadonly, () => ({ entities: {} }))
      .extend(listable, ({ entities }) => ({ entities: { item: entities.paper }, actions: { list: { name: 'paperList' } } }))
      .extend(deletable, ({ entities }) => ({
        entities: { item: entities.paper },
        actions: { delete: { name: 'paperDelete' } },
        events: { deleted: { name: 'paperDeleted' } },
      }))`,
  'src/index.ts': `
    import * as bp from '.botpress'
    const file = (id, name, parentId) => ({ id, type: 'file', name, parentId, sizeInBytes: 8, contentHash: 'hash-' + id })
    const folder = (id, name, parentId) => ({ id, type: 'folder', name, parentId })
    const folders = {
      '': [[file('f1', 'one.txt'), folder('d1', 'deep')], [file('f2', 'two.txt')]],
      d1: [[file('f3', 'three.txt', 'd1'), file('f4', 'secret.key', 'd1')]],
    }
    const papers = [1, 2, 3].map((n) => ({ id: 'p' + n, title: 'Paper ' + n, pages: n }))
    export default new bp.Integration({
      register: async () => {},
      unregister: async () => {},
      channels: {},
      actions: {
        listItemsInFolder: async ({ input }) => {
          const pages = folders[input.folderId ?? '']
          const page = Number(input.nextToken ?? 0)
          return { items: pages[page], meta: page + 1 < pages.length ? { nextToken: String(page + 1) } : {} }
        },
        transferFileToBotpress: async ({ client, input: { file, fileKey, shouldIndex } }) => {
          const { file: stored } = await client.uploadFile({
            key: fileKey, content: 'text of ' + file.id, contentType: 'text/plain', index: shouldIndex, accessPolicies: ['integrations'],
          })
          return { botpressFileId: stored.id }
        },
        paperList: async ({ input }) => {
          const from = Number(input.nextToken ?? 0)
          return { items: papers.slice(from, from + 2), meta: from + 2 < papers.length ? { nextToken: String(from + 2) } : {} }
        },
        paperDelete: async () => ({}),
      },
      handler: async ({ req, client }) => {
        const { type, payload } = JSON.parse(req.body)
        await client.createEvent({ type, payload })
      },
    })`,
}

/** Each command is the call of an action of a plugin. */
const bot = {
  'bot.definition.ts': `
    import { BotDefinition } from '@botpress/sdk'
    import chat from './bp_modules/chat'
    import cabinet from './bp_modules/cabinet'
    import logger from './bp_modules/logger'
    import analytics from './bp_modules/analytics'
    import fileSynchronizer from './bp_modules/file-synchronizer'
    import synchronizer from './bp_modules/synchronizer'
    import insights from './bp_modules/conversation-insights'
    import hitl from './bp_modules/hitl'
    import desk from './bp_modules/${deskIntegration}'
    export default new BotDefinition({})
      .addIntegration(chat, { enabled: true, configuration: {} })
      .addIntegration(cabinet, { enabled: true, configuration: {} })
      .addIntegration(desk, { enabled: true, configuration: {} })
      .addPlugin(hitl, {
        configuration: {},
        dependencies: {
          hitl: { integrationAlias: '${deskIntegration}', integrationInterfaceAlias: 'hitl<hitlConversation>' },
        },
      })
      .addPlugin(logger, { configuration: {}, dependencies: {} })
      .addPlugin(analytics, { configuration: {}, dependencies: {} })
      .addPlugin(insights, { configuration: { aiEnabled: false }, dependencies: {} })
      .addPlugin(fileSynchronizer, {
        configuration: {
          enableRealTimeSync: true,
          includeFiles: [{ pathGlobPattern: '**' }],
          excludeFiles: [{ pathGlobPattern: '**/*.key' }],
        },
        dependencies: {
          'files-readonly': { integrationAlias: 'cabinet', integrationInterfaceAlias: 'files-readonly' },
        },
      })
      .addPlugin(synchronizer, {
        configuration: { tableName: 'papersTable' },
        dependencies: {
          listable: { integrationAlias: 'cabinet', integrationInterfaceAlias: 'listable<paper>' },
          deletable: { integrationAlias: 'cabinet', integrationInterfaceAlias: 'deletable<paper>' },
        },
      })`,
  'src/index.ts': `
    import * as bp from '.botpress'
    const bot = new bp.Bot({ actions: {} })
    const commands = {
      '/track': ['analytics#track', { name: 'asked', count: 2 }],
      '/files': ['file-synchronizer#syncFilesToBotpess', {}],
      '/papers': ['synchronizer#synchronize', {}],
      '/clear': ['synchronizer#clear', {}],
    }
    bot.on.message('*', async (props) => {
      const { message, client, ctx, user } = props
      const { conversationId } = message
      if (message.payload.text === '/agent') {
        const input = { title: 'A question', description: 'About papers', conversationId, userId: user.id }
        return void (await bot.actionHandlers['hitl#startHitl']({ ...props, input }))
      }
      const command = commands[message.payload.text]
      const output = command && (await bot.actionHandlers[command[0]]({ ...props, input: command[1] }))
      const payload = { text: command ? JSON.stringify(output) : 'Bot: ' + message.payload.text }
      await client.createMessage({ conversationId, userId: ctx.botId, tags: {}, type: 'text', payload })
    })
    export default bot`,
}

/**
 * Copies the plugins with their interfaces, and writes an integration and a bot beside them.
 *
 * @param copies the folder with copies of the checkout's projects, and the modules of all
 * @param folder below it
 * @returns the projects, in the order in which they are deployed
 */
export async function writeProjects(copies: string, folder: string): Promise<AnyProject[]> {
  const projects: AnyProject[] = [
    ...interfaces.map((name) => ({ kind: 'interfaces' as const, name, folder: join(folder, 'interfaces', name) })),
    { kind: 'integrations', name: 'cabinet', folder: join(folder, 'integrations', 'cabinet') },
    ...plugins.map((name) => ({ kind: 'plugins' as const, name, folder: join(folder, 'plugins', name) })),
    { kind: 'bots', name: 'clerk', folder: join(folder, 'bots', 'clerk') },
  ]
  for (const { kind, name, folder: target } of projects) {
    const isPublic = kind === 'interfaces' || kind === 'plugins'
    if (isPublic) await cp(join(copies, kind, name), target, { recursive: true, verbatimSymlinks: true })
  }
  const own = projects.filter(({ kind }) => kind === 'integrations' || kind === 'bots')
  const dependencies = {
    cabinet: Object.fromEntries(
      ['files-readonly', 'listable', 'deletable'].map((name) => [name, `../../interfaces/${name}`]),
    ),
    clerk: {
      chat: 'integration:chat@1.0.0',
      cabinet: '../../integrations/cabinet',
      [deskIntegration]: `../../../integrations/${deskIntegration}`,
      ...Object.fromEntries(plugins.map((name) => [name, `../../plugins/${name}`])),
    },
  }
  for (const { name, folder: target } of own) {
    const bpDependencies = dependencies[name as keyof typeof dependencies]
    const files = {
      'package.json': JSON.stringify({ name, private: true, bpDependencies }),
      'tsconfig.json': JSON.stringify({ compilerOptions: { baseUrl: '.' } }),
      ...(name === 'cabinet' ? cabinet : bot),
    }
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(target, path)), { recursive: true })
      await writeFile(join(target, path), text)
    }
  }
  return projects
}
