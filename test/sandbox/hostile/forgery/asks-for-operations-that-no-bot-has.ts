import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const names = ['createBot', 'deleteBot', 'updateBot', 'getBot', 'listBots', 'createBotApiKey', 'listBotApiKeys', 'createIntegration', 'listWorkspaces', 'hello', 'listenConversation', 'POST /v1/admin/bots', '../admin/bots', '__proto__.createBot', 'constructor', 'then', '']
    await say(names.filter((name) => name in client && client[name] !== Object.prototype[name]).join())
    await say(typeof client.createMessage)`,
  outcome: 'done',
  replies: ['nothing', 'function'],
})
