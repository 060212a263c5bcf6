import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertFile, type TestFile } from '../../api/files/fixture.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { logOf } from '../../support/install-code.ts'
import { endedEvents } from '../../support/outcomes.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../support/platform.ts'

let platform: Platform
let owner: DeployedBot
beforeAll(async () => {
  platform = await openPlatform({ environment: { FILE_MB: '76' } })
  owner = await platform.createBot()
})
afterAll(() => platform[Symbol.asyncDispose]())

/** Runs a bot that was granted no host, and returns what its code tells. */
async function run(body: string): Promise<unknown> {
  const bot = await platform.createBot(`
    const reason = (error) => [error.name, error.message]
    export const hooks = {
      async afterIncomingMessage({ logger }) {
        const told = await (async () => { ${body} })().catch(reason)
        logger.info('told ' + JSON.stringify(told ?? null))
      },
    }`)
  const user = await createChatUser(bot.chatUrl)
  await user.send(await user.createConversation(), 'go')
  await endedEvents(platform, bot.id, 1)
  const lines = await logOf(platform, bot.id)
  const line = lines.find((candidate) => candidate.startsWith('info told '))
  return JSON.parse(line!.slice('info told '.length))
}

const quoted = (text: string) => JSON.stringify(text)
const upload = async (content: string | Uint8Array<ArrayBuffer>, options = {}): Promise<TestFile> => {
  const file = await insertFile(platform, owner.id, options)
  expect((await fetch(file.uploadUrl, { method: 'PUT', body: content })).status).toBe(200)
  return file
}

test('bot code uploads to an address that the platform signed, without a grant, and reads the content back', async () => {
  const file = await insertFile(platform, owner.id)
  const told = await run(`
    const answer = await fetch(${quoted(file.uploadUrl)}, {
      method: 'PUT', body: 'déjà vu', headers: { 'content-type': 'text/plain', 'x-amz-tagging': 'public=true' },
    })
    const content = await fetch(${quoted(await file.url())})
    return [answer.status, await answer.text(), content.status, content.headers.get('content-type'), await content.text()]`)
  expect(told).toEqual([200, '', 200, 'text/plain', 'déjà vu'])
  expect(await file.row()).toMatchObject({ status: 'upload_completed', size: '9' })
})

const contentOf = async (file: TestFile | undefined) =>
  Buffer.from(await (await fetch(await file!.url())).arrayBuffer())

test('bot code uploads 20 MB from a buffer, and more than its memory from a stream', { timeout: 60_000 }, async () => {
  const [whole, streamed, text, broken] = await Promise.all([0, 1, 2, 3].map(() => insertFile(platform, owner.id)))
  const told = await run(`
    const put = async (url, body) => (await fetch(url, { method: 'PUT', body })).status
    const bytes = new Uint8Array(20 * 1024 * 1024)
    for (let at = 0; at < bytes.length; at += 1024) bytes[at] = at / 1024
    const statuses = [await put(${quoted(whole!.uploadUrl)}, bytes)]
    let parts = 0
    const pull = (controller) => {
      if (parts === 75) return controller.close()
      controller.enqueue(new Uint8Array(1024 * 1024).fill(parts))
      parts += 1
    }
    statuses.push(await put(${quoted(streamed!.uploadUrl)}, new ReadableStream({ pull })))
    statuses.push(await put(${quoted(text!.uploadUrl)}, 'aé😀'.repeat(100_000)))
    const failing = new ReadableStream({
      pull(controller) {
        parts += 1
        if (parts === 80) throw new RangeError('no more')
        controller.enqueue(new Uint8Array(1000))
      },
    })
    statuses.push(await put(${quoted(broken!.uploadUrl)}, failing).catch((error) => [error.name, error.message]))
    return statuses`)
  expect(told).toEqual([200, 200, 200, ['RangeError', 'no more']])
  const bytes = Buffer.alloc(20 * 1024 * 1024)
  for (let at = 0; at < bytes.length; at += 1024) bytes[at] = at / 1024
  expect((await contentOf(whole)).equals(bytes)).toBe(true)
  const parts = Buffer.concat(Array.from({ length: 75 }, (_, part) => Buffer.alloc(1024 * 1024, part)))
  expect((await contentOf(streamed)).equals(parts)).toBe(true)
  expect((await contentOf(text)).toString()).toBe('aé😀'.repeat(100_000))
  expect(await broken!.row()).toMatchObject({ status: 'upload_pending', object_id: null })
})

test('an upload of bot code ends at the allowance of its file', async () => {
  const file = await insertFile(platform, owner.id)
  const told = await run(`
    const part = new Uint8Array(1024 * 1024)
    let parts = 0
    const pull = (controller) => void (parts++ < 200 ? controller.enqueue(part) : controller.close())
    const answer = await fetch(${quoted(file.uploadUrl)}, { method: 'PUT', body: new ReadableStream({ pull }) })
    const { type, message } = await answer.json()
    return [answer.status, type, message.includes('FILE_MB'), parts < 100]`)
  expect(told).toEqual([403, 'QuotaExceeded', true, true])
  expect(await file.row()).toMatchObject({ status: 'upload_failed' })
})

test('bot code reads a file of several megabytes, in parts', async () => {
  const bytes = Buffer.alloc(5_000_000, 'abc')
  const file = await upload(bytes, { isPublic: true })
  const told = await run(`
    const { body, headers } = await fetch(${quoted(await file.url())})
    let length = 0
    for await (const part of body) length += part.length
    return [length, headers.get('content-length')]`)
  expect(told).toEqual([bytes.length, String(bytes.length)])
})

test('bot code reads a file that is larger than a response may be in ranges', async () => {
  const bytes = Buffer.from(Array.from({ length: 11 * 1024 * 1024 }, (_, index) => index % 251))
  const file = await upload(bytes)
  const url = quoted(await file.url())
  const told = await run(`
    const read = async (range) => {
      const answer = await fetch(${url}, { headers: { Range: range } })
      const { length, 0: first } = new Uint8Array(await answer.arrayBuffer())
      return [answer.status, answer.headers.get('content-range'), length, first]
    }
    const outcomes = []
    for (const range of ['bytes=0-1048575', 'bytes=11534330-', 'bytes=-3', 'bytes=5-5']) outcomes.push(await read(range))
    const beyond = await fetch(${url}, { headers: { range: 'bytes=11534336-' } })
    const changed = await fetch(${url}, { headers: { range: 'bytes=0-1', 'if-range': '"other"' } }).then(() => 'read', () => 'refused')
    return [...outcomes, beyond.status, changed]`)
  const all = bytes.length
  expect(told).toEqual([
    [206, `bytes 0-1048575/${all}`, 1_048_576, 0],
    [206, `bytes 11534330-${all - 1}/${all}`, 6, bytes[11_534_330]],
    [206, `bytes ${all - 3}-${all - 1}/${all}`, 3, bytes[all - 3]],
    [206, `bytes 5-5/${all}`, 1, 5],
    416,
    'refused',
  ])
})

test('bot code gets the platform’s errors as answers, and no larger file than a response may be', async () => {
  const file = await upload('x')
  const large = await upload(Buffer.alloc(11 * 1024 * 1024))
  const told = await run(`
    const statusOf = async (url, options) => {
      const answer = await fetch(url, options)
      return [answer.status, (await answer.json()).type]
    }
    return [
      await statusOf(${quoted(file.uploadUrl)}, { method: 'PUT', body: 'again' }),
      await statusOf(${quoted(`${platform.url}/files/upload/forged`)}, { method: 'PUT', body: 'x' }),
      await statusOf(${quoted(`${platform.url}/files/nothing/x`)}),
      await statusOf(${quoted(`${platform.url}/files/%E0/x`)}),
      await statusOf(${quoted(await file.url())}, { method: 'DELETE' }),
      await fetch(${quoted(await large.url())}).then(() => 'read', () => 'refused'),
      (await fetch(${quoted(await large.url())}, { method: 'HEAD' })).status,
    ]`)
  expect(told).toEqual([
    [409, 'ResourceLockedConflict'],
    [404, 'ResourceNotFound'],
    [404, 'ResourceNotFound'],
    [400, 'InvalidPayload'],
    [405, 'MethodNotFound'],
    'refused',
    200,
  ])
})

test('no other address of the platform is answered', async () => {
  const paths = ['/healthz', '/v1/files', '/files/../healthz', '/files', '/console']
  const told = await run(`
    const outcomes = []
    for (const path of ${JSON.stringify(paths)}) {
      outcomes.push(await fetch(${quoted(platform.url)} + path).then((answer) => answer.status, () => 'refused'))
    }
    return outcomes`)
  expect(told).toEqual(paths.map(() => 'refused'))
})
