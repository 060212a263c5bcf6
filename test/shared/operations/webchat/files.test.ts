import { afterAll, beforeAll, expect, test } from 'vitest'
import { failAbandonedUploads } from '#shared/store/file-sweep.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'
import { installWebchat, visit, type Visitor } from '../../../support/webchat.ts'

const kilobyte = 1024
const megabyte = 1024 * kilobyte

let platform: Platform
let bot: DeployedBot
let url: string
beforeAll(async () => {
  platform = await openPlatform({
    environment: { WEBCHAT_FILE_MB: '1', WEBCHAT_VISITOR_FILES: '3', WEBCHAT_FILES_MB: '4' },
  })
  bot = await platform.createBot()
  url = await installWebchat(platform, bot.id, { fileTypes: ['image/*', 'application/pdf', 'text/plain'] })
})
afterAll(() => platform[Symbol.asyncDispose]())

async function withVisitor(work: (visitor: Visitor) => Promise<void>): Promise<void> {
  const visitor = await visit(url)
  try {
    await work(visitor)
  } finally {
    await visitor.stream.close()
  }
}

const put = (uploadUrl: string, body: string | Buffer) =>
  fetch(uploadUrl, { method: 'PUT', body, headers: { 'content-type': 'text/html', 'x-amz-tagging': 'public=true' } })

const quotaExceeded = (setting: string) => ({
  status: 403,
  body: { type: 'QuotaExceeded', metadata: expect.objectContaining({ setting }) },
})

test('a visitor uploads a file as the published web chat does, and the bot finds it as the visitor’s', () =>
  withVisitor(async (visitor) => {
    const asked = {
      key: '7f3a-notes.txt',
      size: 5,
      accessPolicies: ['public_content'],
      index: true,
      tags: { source: 'integration', integrationName: 'other', conversation: visitor.conversationId, user: 'other' },
      expiresAt: new Date(Date.now() + 80 * 24 * 3600 * 1000).toISOString(),
    }
    const { status, body } = await visitor.ask('POST', '/files', asked)
    expect(status).toBe(201)
    const { file } = body
    expect(file).toMatchObject({ key: '7f3a-notes.txt', contentType: 'text/plain' })
    const days = (Date.parse(file.expiresAt) - Date.now()) / (24 * 3600 * 1000)
    expect(Math.round(days)).toBe(30)
    expect((await put(file.uploadUrl, 'hello')).status).toBe(200)
    const content = await fetch(file.url)
    expect(await content.text()).toBe('hello')
    expect(Object.fromEntries(content.headers)).toMatchObject({
      'content-type': expect.stringMatching(/^text\/plain\b/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
    })
    const sent = await visitor.say({ type: 'file', fileUrl: file.url, title: 'notes.txt', fileId: file.id })
    expect(sent).toMatchObject({ status: 201, body: { message: { payload: { fileId: file.id } } } })

    const { body: seen } = await platform.ask('GET', `/v1/files/${file.id}`, undefined, { 'x-bot-id': bot.id })
    expect(seen.file).toMatchObject({
      key: `${file.id}/7f3a-notes.txt`,
      size: 5,
      status: 'upload_completed',
      index: false,
      owner: { type: 'user' },
      tags: {
        source: 'integration',
        integrationName: 'webchat',
        conversation: visitor.conversationId,
        user: visitor.init.user.id,
      },
    })
  }))

test('a file takes no more than the announced size, once', () =>
  withVisitor(async (visitor) => {
    const { body } = await visitor.ask('POST', '/files', { key: 'a.txt', size: 5 })
    const { uploadUrl, url: contentUrl } = body.file
    expect((await put(uploadUrl, 'longer')).status).toBe(403)
    expect((await put(uploadUrl, 'short')).status).toBe(409)
    expect((await fetch(contentUrl)).status).toBe(404)
    // The size is part of what the address signs.
    const enlarged = uploadUrl.replace(/\.5(\.[^./]+)$/, '.500$1')
    expect(enlarged).not.toBe(uploadUrl)
    expect((await put(enlarged, 'longer')).status).toBe(404)
  }))

test('types that the configuration does not name are refused, and so are documents that run', () =>
  withVisitor(async (visitor) => {
    for (const key of ['page.html', 'run.exe', 'script.js', 'no-extension', 'x.pdf.zip']) {
      const answer = await visitor.ask('POST', '/files', { key, size: 5, contentType: 'image/png' })
      expect(answer).toMatchObject({ status: 415, body: { type: 'UnsupportedMediaType' } })
      expect(answer.body.message).toContain('only image/*, application/pdf, text/plain')
    }
    // A drawing may contain scripts: it is an image, and is not shown in the origin of the platform.
    const { body } = await visitor.ask('POST', '/files', { key: 'a/../"b\r\n.svg', size: 8 })
    await put(body.file.uploadUrl, '<svg/>  ')
    const { headers } = await fetch(body.file.url)
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="_b__\.svg"/)
  }))

test('visitors have quotas of their own, for a file, a visitor and all visitors, which concurrent requests do not exceed', () =>
  withVisitor(async (visitor) => {
    const create = (size: number, by = visitor) => by.ask('POST', '/files', { key: 'a.png', size })
    expect(await create(megabyte + 1)).toMatchObject({
      status: 413,
      body: { type: 'LimitExceeded', metadata: { setting: 'WEBCHAT_FILE_MB' } },
    })
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(kilobyte)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    expect(answers.find(({ status }) => status !== 201)).toMatchObject(quotaExceeded('WEBCHAT_VISITOR_FILES'))
    await withVisitor(async (second) => {
      for (let count = 0; count < 3; count++) expect((await create(megabyte, second)).status).toBe(201)
      await withVisitor(async (third) => {
        expect(await create(megabyte, third)).toMatchObject(quotaExceeded('WEBCHAT_FILES_MB'))
        // Contents that have not come within a day take no room.
        const { db } = platform.context
        await db('files').update({ requested_at: db.raw(`now() - interval '2 days'`) })
        await failAbandonedUploads(db, 100)
        expect((await create(megabyte, third)).status).toBe(201)
      })
    })
    // The bot's own quota is as before.
    const own = { key: 'own.txt', size: megabyte }
    expect((await platform.ask('PUT', '/v1/files', own, { 'x-bot-id': bot.id })).status).toBe(200)
  }))

test('files are for visitors with a key, in their own conversations, and go with the visitor', () =>
  withVisitor(async (visitor) => {
    await platform.context.db('files').where({ bot_id: bot.id }).delete()
    const { status } = await fetch(`${url}/files`, { method: 'POST', body: JSON.stringify({ key: 'a.txt', size: 1 }) })
    expect(status).toBe(401)
    await withVisitor(async (other) => {
      const tags = { conversation: other.conversationId }
      const answer = await visitor.ask('POST', '/files', { key: 'a.txt', size: 1, tags })
      expect(answer).toMatchObject({ status: 403, body: { type: 'Forbidden' } })
    })
    const { body } = await visitor.ask('POST', '/files', { key: 'a.txt', size: 1 })
    await put(body.file.uploadUrl, 'x')
    const row = await platform.context.db('files').where({ id: body.file.id }).first('user_id')
    await platform.ask('DELETE', `/v1/chat/users/${row!.user_id}`, undefined, { 'x-bot-id': bot.id })
    expect((await fetch(body.file.url)).status).toBe(404)
    // One that expires sooner does so.
    await withVisitor(async (next) => {
      const expiresAt = new Date(Date.now() + 3600 * 1000).toISOString()
      const soon = await next.ask('POST', '/files', { key: 'a.txt', size: 1, expiresAt })
      expect(soon.body.file.expiresAt).toBe(expiresAt)
    })
  }))

test('an empty list of types closes uploads', async () => {
  await installWebchat(platform, bot.id, { fileTypes: [] })
  await withVisitor(async (visitor) => {
    const answer = await visitor.ask('POST', '/files', { key: 'a.png', size: 1 })
    expect(answer.body.message).toContain('the web chat takes no files')
  })
  const { body } = await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, {
    integrations: { webchat: { configuration: { fileTypes: ['image'] } } },
  })
  expect(body).toMatchObject({ type: 'InvalidPayload' })
})
