import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { openRuns } from '../../../support/repeated-runs.ts'

let platform: Platform
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
})
afterAll(() => platform[Symbol.asyncDispose]())

const put = async (url: string, body: string) => (await fetch(url, { method: 'PUT', body })).status

describe('a run that is repeated', () => {
  test('does what an integration does once, and gives the same answers', async () => {
    const { begin, installation } = await openRuns(platform)
    const as = { installation }
    const perform = async (run: Awaited<ReturnType<typeof begin>>) => {
      const conversation = await run('POST', 'conversations', { channel: 'inbox' }, as)
      const user = await run('POST', 'users', { name: 'Ann' }, as)
      const given = { conversationId: conversation.body.conversation.id, userId: user.body.user.id, type: 'text' }
      const said = await run('POST', 'messages', { ...given, payload: { text: 'one' } }, as)
      const untagged = await run('POST', 'messages/get-or-create', { ...given, payload: { text: 'two' } }, as)
      const old = { ...given, payload: { text: 'three' }, createdAt: '2020-01-01T00:00:00Z' }
      const imported = await run('POST', 'messages/import-messages', { messages: [old] }, as)
      const initialized = await run(
        'POST',
        'initialize-incoming-message',
        { user: {}, conversation: { channel: 'inbox' }, message: { type: 'text', payload: { text: 'four' } } },
        as,
      )
      return [conversation, user, said, untagged, imported, initialized]
    }
    const answers = await perform(await begin())
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 200, 200, 200])
    expect(await perform(await begin())).toEqual(answers)

    const { db } = platform.context
    const theirs = db('conversations').where({ installation_id: installation.id })
    expect(await theirs.clone()).toHaveLength(2)
    expect(await db('users').where({ installation_id: installation.id })).toHaveLength(2)
    const messages = await db('messages').whereIn('conversation_id', theirs.clone().select('id'))
    expect(new Set(messages.map(({ payload }) => payload['text']))).toEqual(new Set(['one', 'two', 'three', 'four']))
    expect(messages).toHaveLength(4)
    const received = await db('events').whereIn('mailbox', theirs.clone().select('id'))
    expect(received).toHaveLength(3)
  })

  test('changes and deletes once, also after changes in between', async () => {
    const { begin, bot, conversationId } = await openRuns(platform)
    const ask = (path: string, body: object) =>
      platform.ask('PUT', `/v1/chat/${path}`, body, { 'x-bot-id': bot.id }).then(({ body }) => body)
    const perform = async (run: Awaited<ReturnType<typeof begin>>) => {
      const user = (await run('POST', 'users', { name: 'Ann' })).body.user
      const other = (await run('POST', 'conversations', { channel: 'channel' })).body.conversation
      return [
        await run('PUT', `users/${user.id}`, { name: 'Anna' }),
        await run('POST', `conversations/${conversationId}/participants`, { userId: user.id }),
        await run('DELETE', `conversations/${conversationId}/participants/${user.id}`),
        await run('DELETE', `users/${user.id}`),
        await run('PUT', `conversations/${conversationId}`, { tags: { mood: 'fine' } }),
        await run('DELETE', `conversations/${other.id}`),
      ]
    }
    const answers = await perform(await begin())
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    await ask(`conversations/${conversationId}`, { tags: { mood: 'sad' } })
    expect(await perform(await begin())).toEqual(answers)
    const row = await platform.context.db('conversations').where({ id: conversationId }).first()
    expect(row!.tags).toMatchObject({ mood: 'sad' })
  })

  test('upserts a file once, with an upload address of its own', async () => {
    const { begin, bot } = await openRuns(platform)
    const upsert = { key: 'report.txt', size: 3, tags: { a: '1' } }
    const interrupted = await begin()
    const first = await interrupted('PUT', '/v1/files', upsert)
    expect(await put(first.body.file.uploadUrl, 'one')).toBe(200)
    expect(await put(first.body.file.uploadUrl, 'two')).toBe(409)
    expect(await interrupted('PUT', '/v1/files/report.txt', { tags: { b: '2' } })).toMatchObject({ status: 200 })
    const run = await begin()
    const second = await run('PUT', '/v1/files', upsert)
    expect(second.body.file).toMatchObject({
      id: first.body.file.id,
      tags: { a: '1', b: '2' },
      status: 'upload_pending',
    })
    // The former run may still be sending.
    expect(await put(first.body.file.uploadUrl, 'late')).toBe(409)
    expect(await put(second.body.file.uploadUrl, 'three')).toBe(200)
    const rows = await platform.context.db('files').where({ bot_id: bot.id })
    expect(rows).toMatchObject([{ size: '5' }])
    expect(await platform.context.db('file_objects').where({ bot_id: bot.id })).toHaveLength(1)
    expect(await run('POST', '/v1/files/report.txt/copy.txt')).toMatchObject({ status: 200 })
  })

  test('upserts a file again that was upserted once more, or deleted, and ends as the first run', async () => {
    const { begin, bot } = await openRuns(platform)
    const perform = async (run: Awaited<ReturnType<typeof begin>>) => {
      const statuses: number[] = []
      const upload = async (key: string, content: string) => {
        const { status, body } = await run('PUT', '/v1/files', { key, size: content.length, tags: { content } })
        statuses.push(status, await put(body.file.uploadUrl, content))
      }
      await upload('twice.txt', 'one')
      await upload('twice.txt', 'two')
      await upload('gone.txt', 'x')
      statuses.push((await run('DELETE', '/v1/files/gone.txt')).status)
      return statuses
    }
    const done = Array.from({ length: 7 }, () => 200)
    expect(await perform(await begin())).toEqual(done)
    expect(await perform(await begin())).toEqual(done)
    expect(await perform(await begin())).toEqual(done)
    const rows = await platform.context.db('files').where({ bot_id: bot.id })
    expect(rows).toMatchObject([{ key: 'twice.txt', status: 'upload_completed', tags: { content: 'two' } }])
    expect(await platform.context.db('file_objects').where({ bot_id: bot.id })).toHaveLength(1)
  })

  test('of an event that is taken over does not take the content from the newer run', async () => {
    const { begin, bot } = await openRuns(platform)
    const upsert = { key: 'report.txt', size: 3 }
    await (
      await begin()
    )('PUT', '/v1/files', upsert)
    const zombie = await begin()
    const { body } = await (await begin())('PUT', '/v1/files', upsert)
    expect(await put(body.file.uploadUrl, 'new')).toBe(200)
    expect(await zombie('PUT', '/v1/files', upsert)).toMatchObject({ status: 409 })
    const rows = await platform.context.db('files').where({ bot_id: bot.id })
    expect(rows).toMatchObject([{ status: 'upload_completed', size: '3' }])
    expect(await platform.context.db('file_objects').where({ bot_id: bot.id })).toHaveLength(1)
  })

  test('copies and deletes a file once', async () => {
    const { begin, bot } = await openRuns(platform)
    const { body } = await platform.ask('PUT', '/v1/files', { key: 'a', size: 1 }, { 'x-bot-id': bot.id })
    await fetch(body.file.uploadUrl, { method: 'PUT', body: 'x' })
    const perform = async (run: Awaited<ReturnType<typeof begin>>) => [
      await run('POST', '/v1/files/a/b'),
      await run('PUT', '/v1/files/a', { tags: { t: 'v' } }),
      await run('DELETE', '/v1/files/a'),
      await run('POST', '/v1/files/knowledge-bases', { name: 'docs' }),
    ]
    const answers = await perform(await begin())
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    // The source of the copy is gone: a repeated call is answered from the journal nevertheless.
    expect(await perform(await begin())).toEqual(answers)
    expect(await platform.context.db('files').where({ bot_id: bot.id })).toMatchObject([{ key: 'b' }])
    expect(await platform.context.db('file_objects').where({ bot_id: bot.id })).toHaveLength(1)
  })

  test('of an event that is taken over can write nothing more', async () => {
    const { begin, installation, conversationId } = await openRuns(platform)
    const zombie = await begin()
    await begin()
    const refused = { status: 409, body: { type: 'ResourceLockedConflict' } }
    const tags = { ghost: 'yes' }
    expect(await zombie('POST', 'users', { tags }, { installation })).toMatchObject(refused)
    expect(await zombie('POST', 'users/get-or-create', { tags }, { installation })).toMatchObject(refused)
    expect(await zombie('PUT', `conversations/${conversationId}`, { tags })).toMatchObject(refused)
    expect(await zombie('DELETE', `conversations/${conversationId}`)).toMatchObject(refused)
    const { db } = platform.context
    expect(await db('users').where({ installation_id: installation.id })).toEqual([])
    expect((await db('conversations').where({ id: conversationId }).first())!.tags).not.toHaveProperty('ghost')
  })
})

test('a run may delete the conversation whose event it handles', async () => {
  const { begin, conversationId } = await openRuns(platform)
  const run = await begin()
  expect(await run('DELETE', `conversations/${conversationId}`)).toMatchObject({ status: 200, body: {} })
  expect(await platform.context.db('conversations').where({ id: conversationId })).toEqual([])
})

test('runs that import into the same conversations, each in its own order, do not hold each other up', async () => {
  const { bot, chatUser, conversationId, begin } = await openRuns(platform)
  const other = await chatUser.createConversation()
  await chatUser.send(other, 'hello')
  const { user } = (await chatUser.ask('GET', '/users/me')).body
  const imported = Array.from({ length: 50 }, (_, index) => ({
    conversationId: index % 2 === 0 ? conversationId : other,
    userId: user.id,
    type: 'text',
    payload: { text: `line ${index}` },
    tags: { line: String(index) },
    createdAt: '2020-02-29T12:00:00.000Z',
  }))
  const runs = [await begin(), await begin(other)]
  const orders = [imported, imported.toReversed()]
  const answers = await Promise.all(
    runs.map((run, index) => run('POST', 'messages/import-messages', { messages: orders[index] })),
  )
  for (const [index, { status, body }] of answers.entries()) {
    const texts = body.messages?.map(({ payload }: { payload: { text: string } }) => payload.text)
    expect([status, texts]).toEqual([200, orders[index]!.map(({ payload }) => payload.text)])
  }
  const rows = await platform.context.db('messages').where({ bot_id: bot.id }).whereRaw(`tags <> '{}'`)
  expect(rows).toHaveLength(50)
})
