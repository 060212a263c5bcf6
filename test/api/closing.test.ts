import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../cli/postgres/free-port.ts'
import { startServer } from '../../api/server.ts'
import { createChatUser } from '../support/chat-client.ts'
import { openPlatform } from '../support/platform.ts'

test('an api that stops waits neither for a connection that was opened in advance nor for a listener that does not read', async () => {
  const platform = await openPlatform({ worker: false })
  const { port } = new URL(platform.url)
  const bot = await platform.createBot()
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  const silent = connect(Number(port), '127.0.0.1')
  await once(silent, 'connect')
  const deaf = connect(Number(port), '127.0.0.1')
  const { pathname } = new URL(bot.chatUrl)
  deaf.write(
    `GET ${pathname}/conversations/${conversationId}/listen HTTP/1.1\r\nHost: x\r\nx-user-key: ${chatUser.key}\r\n\r\n`,
  )
  await once(deaf, 'data')
  deaf.pause()
  for (let count = 0; count < 4; count++) await chatUser.send(conversationId, 'x'.repeat(900_000))
  silent.on('error', () => {})
  deaf.on('error', () => {})

  const ended = once(silent, 'close')
  await platform[Symbol.asyncDispose]()
  await ended
  expect(silent.destroyed).toBe(true)
  deaf.destroy()
}, 20_000)

test('an api that stops waits for a request whose client has gone', async () => {
  await using platform = await openPlatform({ worker: false })
  const { context } = platform
  const bot = await platform.createBot()
  const http = { ...context.config.http, port: await freePort() }
  const server = await startServer({ ...context, config: { ...context.config, http } })
  const locked = await context.db.transaction()
  await locked('bots').where({ id: bot.id }).forUpdate().first()
  const leaving = new AbortController()
  const renamed = fetch(`http://127.0.0.1:${http.port}/v1/admin/bots/${bot.id}`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${platform.token}`,
      'x-workspace-id': platform.workspaceId,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'renamed' }),
    signal: leaving.signal,
  }).catch(() => {})
  const blocked = () => context.db('pg_locks').where({ granted: false }).whereNotNull('transactionid')
  await expect.poll(blocked).toHaveLength(1)
  leaving.abort()
  await renamed
  const closed = server[Symbol.asyncDispose]()
  await expect.poll(() => fetch(`http://127.0.0.1:${http.port}/readyz`).then(Boolean, () => false)).toBe(false)
  await locked.commit()
  await closed
  expect(await context.db('bots').where({ id: bot.id }).first()).toMatchObject({ name: 'renamed' })
})
