import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../../cli/postgres/free-port.ts'
import { readPages, root } from '../../../docs/blocks.ts'
import { openPlatform, type DeployedBot, type Platform } from '../../../support/platform.ts'
import { startProcess } from '../../../support/processes.ts'

const patience = { timeout: 30_000, interval: 50 }

let platform: Platform
let bot: DeployedBot
let directory: string
beforeAll(async () => {
  platform = await openPlatform({ worker: false })
  bot = await platform.createBot()
  directory = await mkdtemp(join(tmpdir(), 'isobot-reconnect-'))
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
})
afterAll(async () => {
  await platform[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

test.each(['docs/chat.md', 'README.md'])(
  'the program of %s misses no message and shows none twice when its api is restarted, and when it is killed',
  async (path) => {
    // The program talks to an api of its own; what the bot says comes by another one.
    const port = await freePort()
    const address = { PORT: String(port), ISOBOT_BASE_URL: `http://127.0.0.1:${port}` }
    let api = await startProcess(platform, 'api', address)
    await expect.poll(() => isReady(port), patience).toBe(true)
    const program = spawn(process.execPath, [await writeProgram(path, port)], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      let output = ''
      program.stdout.on('data', (chunk) => (output += String(chunk)))
      await expect.poll(() => output, patience).toContain('Hi there')
      const conversationId = await newestConversation()
      let count = 0
      const sendSome = async (number: number) => {
        for (let more = 0; more < number; more++) await sendAsBot(conversationId, ++count)
      }
      const shown = () => Array.from(output.matchAll(/text: 'message (\d+)'/g), ([, number]) => Number(number))
      const wanted = () => Array.from({ length: count }, (_, index) => index + 1)
      await sendSome(3)
      await expect.poll(shown, patience).toEqual(wanted())

      for (const end of [() => api.stop(), () => (api.kill(), api.exited)]) {
        await end()
        // More than the client gets in one answer.
        await sendSome(30)
        api = await startProcess(platform, 'api', address)
        // Some come just when it connects again.
        for (let more = 0; more < 20 || !(await isReady(port)); more++) await sendSome(1)
        await expect.poll(shown, patience).toEqual(wanted())
        await sendSome(2)
        await expect.poll(shown, patience).toEqual(wanted())
      }
      expect(output.match(/Hi there/g)).toHaveLength(1)
    } finally {
      program.kill()
      await once(program, 'exit')
      await api.stop()
    }
  },
  180_000,
)

/** The page's example as a reader would write it down. */
async function writeProgram(path: string, port: number): Promise<string> {
  const page = (await readPages()).find((one) => one.path === path)
  const block = page?.blocks.find(({ kind }) => kind?.startsWith('program'))
  const text = block!.text.replace(
    'http://localhost:3000/chat/<webhookId>',
    `http://127.0.0.1:${port}/chat/${bot.webhookId}`,
  )
  const file = join(directory, `${path.replaceAll('/', '-')}.mjs`)
  await writeFile(file, text)
  return file
}

async function newestConversation(): Promise<string> {
  const [row] = await platform.context.db('conversations').where({ bot_id: bot.id }).orderBy('created_at', 'desc')
  return row!.id
}

async function sendAsBot(conversationId: string, number: number): Promise<void> {
  const message = { conversationId, userId: bot.id, type: 'text', payload: { text: `message ${number}` }, tags: {} }
  const { status } = await platform.ask('POST', '/v1/chat/messages', message, { 'x-bot-id': bot.id })
  expect(status).toBe(201)
}

async function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}
