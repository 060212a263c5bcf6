import { hostile } from '../hostile.ts'

export default hostile({
  sdk: true,
  body: `
    const ends = []
    for (const [method, path] of [
      ['GET', '/v1/admin/bots'], ['DELETE', '/v1/admin/bots/' + neighbour.botId], ['POST', '/v1/admin/bots'], ['GET', '/v1/admin/workspaces'], ['GET', '/V1/ADMIN/bots'], ['GET', '/v1/chat/../admin/bots'], ['GET', '/v1/chat/%2e%2e/admin/bots'],
      ['GET', '//v1/admin/bots'], ['GET', '/v1/chat/..%2fadmin%2fbots'], ['GET', '/' + neighbour.botId], ['GET', '/webhooks/' + neighbour.botId], ['TRACE', '/v1/chat/users'], ['GET', '/healthz'], ['GET', '/'],
    ]) ends.push(await ask(method, path).then(({ status }) => status, (error) => error.name))
    await say([...new Set(ends)].sort().join())
    await say((await ask('GET', '/v1/chat/users')).status)`,
  outcome: 'done',
  replies: ['403,404,TypeError', '200'],
})
