import { randomUUID } from 'node:crypto'
import { Client } from '@botpress/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import type { Ask } from '../../../support/entry-points.ts'
import { installIntegration, storeIntegration } from '../../../support/install-integration.ts'
import { createMember } from '../../../support/members.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { openFileSweep } from '../../../../worker/periodic/file-sweep.ts'

let platform: Platform
let botId: string
let asBot: Ask
let asOne: Ask
let asOther: Ask
beforeAll(async () => {
  platform = await openPlatform({ worker: false, backEnd: 'postgres' })
})
afterAll(() => platform[Symbol.asyncDispose]())
beforeEach(async () => {
  botId = (await platform.createBot()).id
  const as = (headers: object): Ask => {
    return (method, path, body) => platform.ask(method, path, body, { 'x-bot-id': botId, ...headers })
  }
  const [one, other] = [await storeIntegration(platform), await storeIntegration(platform)]
  await installIntegration(platform, botId, one, { alias: 'one' })
  await installIntegration(platform, botId, other, { alias: 'other' })
  asBot = as({})
  asOne = as({ 'x-integration-id': one })
  asOther = as({ 'x-integration-id': other })
})

const upsert = async (ask: Ask, given: object = {}) => {
  const { status, body } = await ask('PUT', '/v1/files', { key: randomUUID(), size: 1, ...given })
  expect(status).toBe(200)
  return body.file
}
const put = (url: string, content = 'x') => fetch(url, { method: 'PUT', body: content })
const idsFor = async (ask: Ask) => (await ask('GET', '/v1/files')).body.files.map(({ id }: { id: string }) => id)

describe('a file of an integration', () => {
  test('has its owner, and a key among its own', async () => {
    const files = [
      await upsert(asOne, { key: 'k' }),
      await upsert(asOther, { key: 'k' }),
      await upsert(asBot, { key: 'k' }),
    ]
    expect(new Set(files.map(({ id }) => id)).size).toBe(3)
    expect(files.map(({ owner }) => owner)).toEqual([
      { type: 'integration', name: 'tool', alias: 'one' },
      { type: 'integration', name: 'tool', alias: 'other' },
      { type: 'bot', id: botId },
    ])
    const found = await Promise.all([asOne, asOther, asBot].map((ask) => ask('GET', '/v1/files/k')))
    expect(found.map(({ body }) => body.file.id)).toEqual(files.map(({ id }) => id))
  })

  test('is the bot’s to read, list, change and delete, and nothing to another integration', async () => {
    const { id } = await upsert(asOne, { tags: { secret: 'tag' } })
    expect(await idsFor(asBot)).toEqual([id])
    expect(await idsFor(asOther)).toEqual([])
    expect((await asOther('GET', '/v1/files/tags')).body.tags).toEqual([])
    expect((await asOther('GET', '/v1/files/tags/secret/values')).body.values).toEqual([])
    for (const [method, path, body] of [
      ['GET', id],
      ['PUT', id, { tags: { a: 'b' } }],
      ['DELETE', id],
      ['POST', `${id}/copy`, {}],
    ] as const) {
      expect(await asOther(method, `/v1/files/${path}`, body)).toMatchObject({ status: 404 })
    }
    expect(await asBot('PUT', `/v1/files/${id}`, { tags: { a: 'b' } })).toMatchObject({ status: 200 })
    expect((await asOne('GET', `/v1/files/${id}`)).body.file.tags).toEqual({ secret: 'tag', a: 'b' })
    expect(await asBot('DELETE', `/v1/files/${id}`)).toMatchObject({ status: 200 })
  })

  test('with the policy for integrations is read by all of them, and changed by none', async () => {
    const { id, uploadUrl } = await upsert(asOne, { accessPolicies: ['integrations'], tags: { shared: 'yes' } })
    await put(uploadUrl)
    expect(await asOther('GET', `/v1/files/${id}`)).toMatchObject({ status: 200 })
    expect(await idsFor(asOther)).toEqual([id])
    expect((await asOther('GET', '/v1/files/tags')).body.tags).toEqual(['shared'])
    expect(await asOther('PUT', `/v1/files/${id}`, { tags: {} })).toMatchObject({ status: 403 })
    expect(await asOther('DELETE', `/v1/files/${id}`)).toMatchObject({ status: 403 })
    const copy = (await asOther('POST', `/v1/files/${id}/mine`, {})).body.file
    expect(copy).toMatchObject({ key: 'mine', owner: { alias: 'other' } })
    await asBot('PUT', `/v1/files/${id}`, { accessPolicies: [] })
    expect(await asOther('GET', `/v1/files/${id}`)).toMatchObject({ status: 404 })
  })

  test('does not give it knowledge bases', async () => {
    expect(await asOne('POST', '/v1/files/knowledge-bases', { name: 'x' })).toMatchObject({ status: 403 })
    expect(await asOne('GET', '/v1/files/knowledge-bases')).toMatchObject({ status: 403 })
  })
})

test('a file of a user goes with the user, with its room in the quota', async () => {
  const { body } = await asBot('POST', '/v1/chat/users', { name: 'Ann', tags: {} })
  const userId = body.user.id
  const headers = { 'x-bot-id': botId, 'x-user-id': userId }
  const answer = await platform.ask('PUT', '/v1/files', { key: 'photo.png', size: 10 }, headers)
  expect(answer.body.file.owner).toEqual({ type: 'user', id: userId })
  expect(await asBot('GET', '/v1/files/photo.png')).toMatchObject({ status: 200 })
  expect(await asBot('DELETE', `/v1/chat/users/${userId}`)).toMatchObject({ status: 200 })
  expect(await asBot('GET', '/v1/files/photo.png')).toMatchObject({ status: 404 })
  expect((await put(answer.body.file.uploadUrl)).status).toBe(404)
  expect(await platform.context.db('file_usage').where({ bot_id: botId })).toMatchObject([{ files: '0', bytes: '0' }])
  const { id: foreign } = await platform.createBot()
  const notTheirs = await platform.ask('PUT', '/v1/files', { key: 'x', size: 1 }, { ...headers, 'x-user-id': foreign })
  expect(notTheirs).toMatchObject({ status: 400, body: { type: 'ReferenceNotFound' } })
})

test('the deletion of a user reaches copies within the bot, those of others included, and their contents', async () => {
  const { db } = platform.context
  const { body } = await asBot('POST', '/v1/chat/users', { name: 'Ann', tags: {} })
  const userId = body.user.id
  const headers = { 'x-bot-id': botId, 'x-user-id': userId }
  const { file } = (
    await platform.ask('PUT', '/v1/files', { key: 'k', size: 1, accessPolicies: ['integrations'] }, headers)
  ).body
  await put(file.uploadUrl)
  const [byBot, byOther] = [
    (await asBot('POST', `/v1/files/${file.id}/copy`, {})).body.file,
    (await asOther('POST', `/v1/files/${file.id}/copy`, {})).body.file,
  ]
  expect([byBot.owner, byOther.owner]).toEqual([
    { type: 'bot', id: botId },
    { type: 'integration', name: 'tool', alias: 'other' },
  ])
  const { id: destination } = await platform.createBot()
  expect((await copyTo(file.id, destination)).status).toBe(200)
  const copyOfCopy = (await asBot('POST', `/v1/files/${byBot.id}/again`, {})).body.file
  await upsert(asBot, { key: 'copy' })
  expect(await asBot('DELETE', `/v1/chat/users/${userId}`)).toMatchObject({ status: 200 })
  for (const { id } of [file, byOther, copyOfCopy]) {
    expect(await asBot('GET', `/v1/files/${id}`)).toMatchObject({ status: 404 })
  }
  // The bot's own upsert has replaced that copy, and another bot has users of its own.
  expect(await asBot('GET', '/v1/files/copy')).toMatchObject({ status: 200 })
  await db('file_objects').update({ completed_at: new Date(Date.now() - 3_700_000) })
  await openFileSweep(platform.context).run()
  expect(await db('file_objects').where({ bot_id: botId })).toEqual([])
  expect(await db('file_objects').where({ bot_id: destination })).toHaveLength(1)
})

const copyTo = (file: string, destination: string, headers: object = {}) =>
  platform.ask(
    'POST',
    `/v1/files/${file}/copied`,
    {},
    { 'x-bot-id': botId, 'x-destination-bot-id': destination, ...headers },
  )

describe('a copy for another bot', () => {
  test('is made by a member who may act as both', async () => {
    const { id: destination } = await platform.createBot()
    const { id, uploadUrl } = await upsert(asBot, { tags: { a: '1' } })
    await put(uploadUrl, 'hello')
    const { body } = await copyTo(id, destination)
    expect(body.file).toMatchObject({ botId: destination, key: 'copied', tags: { a: '1' }, owner: { id: destination } })
    expect(await (await fetch(body.file.url)).text()).toBe('hello')
    expect(await platform.context.db('file_usage').where({ bot_id: destination })).toMatchObject([{ bytes: '5' }])
    expect(await idsFor(asBot)).toEqual([id])
  })

  test('is recorded in both workspaces', async () => {
    const { body: workspace } = await platform.ask('POST', '/v1/admin/workspaces', { name: 'another' })
    const created = await platform.ask('POST', '/v1/admin/bots', {}, { 'x-workspace-id': workspace.id })
    const destination: string = created.body.bot.id
    const { id, uploadUrl } = await upsert(asBot, {})
    await put(uploadUrl, 'hello')
    const { body } = await copyTo(id, destination)
    const records = await platform.context.db('audit_records').where({ operation: 'copyFile', outcome: 'done' })
    const here = records.filter(({ workspace_id: workspaceId }) => workspaceId === platform.workspaceId)
    expect(here.map(({ fields }) => fields)).toContain(`x-destination-bot-id=${destination}`)
    const there = records.filter(({ workspace_id: workspaceId }) => workspaceId === workspace.id)
    const fields = `botId=${destination}, sourceBotId=${botId}`
    expect(there).toMatchObject([{ fields, resource_id: body.file.id, account_id: here[0]!.account_id }])
  })

  test('is refused to the bot itself, to integrations, to viewers there, and for no bot', async () => {
    const { id: destination } = await platform.createBot()
    const { id, uploadUrl } = await upsert(asOne, { accessPolicies: ['integrations'] })
    await put(uploadUrl)
    const { body } = await platform.ask('POST', '/v1/admin/bots/baks', { botId, note: '' })
    const developer = await createMember(platform, 'developer')
    const theirs = await platform.ask('POST', '/v1/admin/bots', {}, developer)
    const one = (await platform.context.db('installations').where({ bot_id: botId, alias: 'one' }).first())!
      .integration_id!
    const missing = { status: 404, body: { message: expect.stringMatching(/Bot .* not found/) } }
    expect(await copyTo(id, destination, { authorization: `Bearer ${body.value}` })).toMatchObject(missing)
    expect(await copyTo(id, destination, { 'x-integration-id': one })).toMatchObject(missing)
    expect(await copyTo(id, theirs.body.bot.id)).toMatchObject(missing)
    expect(await copyTo(id, 'bot_none')).toMatchObject(missing)
    expect(await copyTo(id, botId, { authorization: `Bearer ${body.value}` })).toMatchObject({ status: 200 })
  })
})

test('changes by members are recorded, changes by the bot are not', async () => {
  const { id } = await upsert(asBot, { key: 'report.pdf' })
  await asBot('PUT', `/v1/files/${id}`, { tags: { a: 'secret' } })
  await asBot('DELETE', `/v1/files/${id}`)
  const rows = await platform.context.db('audit_records').where({ resource_id: id }).orderBy('id')
  expect(
    rows.map(({ operation, fields, workspace_id, outcome }) => [operation, fields, workspace_id, outcome]),
  ).toEqual([
    ['upsertFile', 'key=report.pdf, size', platform.workspaceId, 'done'],
    ['updateFileMetadata', 'tags', platform.workspaceId, 'done'],
    ['deleteFile', '', platform.workspaceId, 'done'],
  ])
  const { body } = await platform.ask('POST', '/v1/admin/bots/baks', { botId, note: '' })
  const own = await platform.ask(
    'PUT',
    '/v1/files',
    { key: 'x', size: 1 },
    { 'x-bot-id': botId, authorization: `Bearer ${body.value}` },
  )
  expect(await platform.context.db('audit_records').where({ resource_id: own.body.file.id })).toEqual([])
})

test('a viewer of the workspace may not act as the bot, nor may a stranger', async () => {
  for (const [role, workspaceId] of [
    ['viewer', platform.workspaceId],
    ['owner', undefined],
  ] as const) {
    const headers = { ...(await createMember(platform, role, workspaceId)), 'x-bot-id': botId }
    expect(await platform.ask('GET', '/v1/files', undefined, headers)).toMatchObject({ status: 403 })
    expect(await platform.ask('PUT', '/v1/files', { key: 'x', size: 1 }, headers)).toMatchObject({ status: 403 })
  }
})

const client = () => new Client({ apiUrl: platform.url, token: platform.token, botId })

describe('the published client', () => {
  test.each([
    ['a text', 'grüße', 7],
    ['a buffer', Buffer.from([0, 1, 255]), 3],
    ['an array buffer', new Uint8Array([1, 2]).buffer, 2],
    ['a blob', new Blob(['blob'], { type: 'text/css' }), 4],
    ['no bytes', Buffer.alloc(0), 0],
  ])('uploads %s', async (_what, content, size) => {
    const { file } = await client().uploadFile({ key: `${randomUUID()}.css`, content: content as never })
    expect(file.size).toBe(size)
    const { file: stored } = await client().getFile({ id: file.id })
    expect(stored).toMatchObject({ size, status: 'upload_completed', contentType: 'text/css' })
    const expected = content instanceof Blob ? Buffer.from(await content.arrayBuffer()) : Buffer.from(content as never)
    expect(Buffer.from(await (await fetch(stored.url)).arrayBuffer())).toEqual(expected)
  })

  test('uploads what it downloads from an address', async () => {
    const { file: source } = await client().uploadFile({
      key: 'a.txt',
      content: 'from afar',
      accessPolicies: ['public_content'],
    })
    const { url } = (await client().getFile({ id: source.id })).file
    const { file } = await client().uploadFile({ key: 'b.txt', url })
    expect((await client().getFile({ id: file.id })).file.size).toBe(9)
  })

  test('collects all pages of files, tags, values and knowledge bases', async () => {
    const tags = { run: 'r', n: '' }
    for (let n = 0; n < 25; n += 1)
      await client().upsertFile({ key: String(n), size: 0, tags: { ...tags, n: String(n) } })
    await client().upsertFile({ key: 'other', size: 0 })
    expect(
      await client()
        .list.files({ tags: { run: 'r' } })
        .collect(),
    ).toHaveLength(25)
    expect(
      await client()
        .list.files({ tags: { run: { not: 'r' } } })
        .collect(),
    ).toHaveLength(1)
    expect(await client().list.fileTags({}).collect()).toEqual(['n', 'run'])
    expect(await client().list.fileTagValues({ tag: 'n' }).collect({ limit: 30 })).toHaveLength(25)
    await client().createKnowledgeBase({ name: 'docs' })
    expect(await client().list.knowledgeBases({}).collect()).toMatchObject([{ name: 'docs' }])
  })

  test('gets an error of its own class for each refusal', async () => {
    await expect(client().getFile({ id: newId('file') })).rejects.toMatchObject({ type: 'ResourceNotFound' })
    const tooLarge = client().upsertFile({ key: 'x', size: 1e12 })
    await expect(tooLarge).rejects.toMatchObject({ type: 'QuotaExceeded', code: 403 })
  })
})

test('a filter by tags is understood in each encoding', async () => {
  const { id } = await upsert(asBot, { tags: { color: 'red', 'a.b': 'x' } })
  await upsert(asBot, { tags: { color: 'blue' } })
  for (const query of [
    'tags.color=red',
    'tags%5Bcolor%5D=red',
    'tags[color][0]=red&tags[color][1]=green',
    'tags[color][not][0]=blue',
    'tags.color.in=red&tags.color.in=green',
    'tags.a.b=x',
    'tags.a.b.exists=true',
    `tags=${encodeURIComponent('{"color":{"not":["blue"]}}')}`,
  ]) {
    const { body } = await asBot('GET', `/v1/files?${query}`)
    expect([query, body.files?.map((file: { id: string }) => file.id)]).toEqual([query, [id]])
  }
})
