import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChatUser } from '../support/chat-client.ts'
import { openLink, type Link } from '../chaos/network.ts'
import { openPlatform, type DeployedBot, type Platform } from '../support/platform.ts'
import { launcher, openCommandLine, type CommandLine, type RunningCommand } from './command-line.ts'

const code = `export const hooks = {
  async afterIncomingMessage({ event, client, logger }) {
    const say = (payload, type = 'text') => client.createMessage({ conversationId: event.conversationId, type, payload })
    logger.info('Heard', event.preview)
    if (event.preview === 'menu') {
      const options = [{ label: 'Tea', value: 'a cup of tea' }, { label: 'Coffee', value: 'a coffee' }]
      return void await say({ text: 'What may it be?', options }, 'choice')
    }
    if (event.preview === 'write') {
      const stream = client.streamMessage(event.conversationId)
      for (const part of ['Once ', 'upon ', 'a time']) await stream.write(part)
      return void await stream.end()
    }
    if (event.preview === 'fail') {
      logger.warn('This will not end well \\u001B[2J')
      throw new Error('No tea', { cause: new RangeError('The kettle is broken') })
    }
    const { value } = event.payload
    await say({ text: 'You said ' + event.preview + (value === undefined ? '' : ' and mean ' + value) })
  },
}`

/** Processes are started for all of it, on machines that have other things to do as well. */
const soon = { timeout: 20_000 }

let platform: Platform
let bot: DeployedBot
let isobot: CommandLine
beforeAll(async () => {
  platform = await openPlatform()
  isobot = await openCommandLine(platform)
  const { body } = await platform.ask('POST', '/v1/admin/bots', { name: 'waiter', code })
  bot = { id: body.bot.id, webhookId: '', chatUrl: body.bot.integrations.chat.webhookUrl }
})
afterAll(async () => {
  await isobot?.[Symbol.asyncDispose]()
  await platform?.[Symbol.asyncDispose]()
})

describe('isobot chat', () => {
  it('says a message, and prints the answer', async () => {
    expect(await isobot.run(['chat', 'waiter', 'Hi', 'there'])).toMatchObject({
      code: 0,
      stdout: 'You said Hi there\n',
      stderr: '',
    })
  })

  it('says each line of its input when the one before is answered, and chooses by number', async () => {
    const { code: exitCode, stdout } = await isobot.run(['chat', bot.id, '--json'], { input: 'menu\n\n2\nwrite' })
    expect(exitCode).toBe(0)
    const payloads = lines(stdout).map((line) => (JSON.parse(line) as { payload: object }).payload)
    expect(payloads).toMatchObject([
      { type: 'choice', text: 'What may it be?' },
      { type: 'text', text: 'You said Coffee and mean a coffee' },
      { type: 'text', text: 'Once upon a time' },
    ])
  })

  it('fails where the bot fails, with the reason and how to see more', async () => {
    const outcome = await isobot.run(['chat', 'waiter', 'fail'])
    expect(outcome).toMatchObject({ code: 1, stdout: '' })
    expect(outcome.stderr).toMatch(
      /RangeError: The kettle is broken, which led to Error: No tea.*isobot events waiter show evt_\w+/,
    )
  })

  it('goes on with the next line after the bot has failed, and ends with 1', async () => {
    const outcome = await isobot.run(['chat', 'waiter'], { input: 'one\nfail\ntwo\nfail\nthree\n' })
    expect(outcome).toMatchObject({ code: 1, stdout: 'You said one\nYou said two\nYou said three\n' })
    const failures = lines(outcome.stderr)
    expect(failures).toHaveLength(2)
    for (const line of failures)
      expect(line).toContain('The bot failed: afterIncomingMessage: RangeError: The kettle is broken, which led to')

    const asJson = await isobot.run(['chat', 'waiter', '--json'], { input: 'fail\nfour' })
    expect(asJson.code).toBe(1)
    expect(lines(asJson.stdout).map((line) => JSON.parse(line))).toMatchObject([{ payload: { text: 'You said four' } }])
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      error: { type: 'BotFailed', details: { eventId: expect.stringMatching(/^evt_/) } },
    })
  })

  it('says at a terminal that the bot failed, why, and goes on', async () => {
    const chat = atTerminal(['chat', 'waiter'], platform.url)
    await expect.poll(chat.stdout, soon).toContain('Talking to waiter')
    chat.child.stdin.write('fail\r')
    await expect
      .poll(chat.stdout, soon)
      .toMatch(
        /The bot failed: afterIncomingMessage: RangeError: The kettle is broken, which led to Error: No tea.*isobot events waiter show evt_\w+/,
      )
    chat.child.stdin.write('and now\r')
    await expect.poll(chat.stdout, soon).toContain('You said and now')
    expect(chat.stdout().split('The bot failed')).toHaveLength(2)
    chat.child.stdin.write('\u0003')
    expect(await chat.ended).toMatchObject({ code: 0 })
  })

  it('talks at a terminal until Ctrl-C, shows what the bot is writing, and gets over a lost connection', async () => {
    await using link = await linkToPlatform()
    const chat = atTerminal(['chat', 'waiter'], through(link))
    await expect.poll(chat.stdout, soon).toContain('Talking to waiter')
    chat.child.stdin.write('menu\r')
    await expect.poll(chat.stdout, soon).toContain('2. Coffee')
    chat.child.stdin.write('1\r')
    await expect.poll(chat.stdout, soon).toContain('You said Tea and mean a cup of tea')
    chat.child.stdin.write('write\r')
    await expect.poll(() => chat.stdout().split('Once upon a time').length, soon).toBe(2)
    link.cut()
    await expect.poll(chat.stdout, soon).toContain('Connection lost')
    link.mend()
    await expect.poll(chat.stdout, soon).toContain('Connected again')
    chat.child.stdin.write('still here\r')
    await expect.poll(chat.stdout, soon).toContain('You said still here')
    // The message that was shown while it was written is not shown again.
    expect(chat.stdout().split('Once upon a time')).toHaveLength(2)
    chat.child.stdin.write('\u0003')
    expect(await chat.ended).toMatchObject({ code: 0 })
  })

  it('says what was typed before the conversation was open', async () => {
    const chat = atTerminal(['chat', 'waiter'], platform.url)
    chat.child.stdin.write('in a hurry\r')
    await expect.poll(chat.stdout, soon).toContain('You said in a hurry')
    chat.child.stdin.write('\u0003')
    expect(await chat.ended).toMatchObject({ code: 0 })
  })
})

describe('isobot logs', () => {
  it('follows the log until Ctrl-C, also over an outage of the platform, as lines of JSON for programs', async () => {
    // Through a launcher that has to find the right Node, so that signals and exit codes are passed on.
    await using link = await linkToPlatform()
    const logs = isobot.start(['logs', 'waiter', '-f', '--text', 'heard', '-n', '0', '--json'], {
      asNode: '18.0.0',
      environment: { ISOBOT_URL: through(link) },
    })
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    let count = 0
    await expect
      .poll(async () => {
        await chatUser.send(conversationId, `message ${++count}`)
        return lines(logs.stdout()).length
      }, soon)
      .toBeGreaterThan(2)
    link.cut()
    for (let more = 0; more < 3; more++) await chatUser.send(conversationId, `message ${++count}`)
    link.mend()
    await expect.poll(logs.stdout, soon).toContain(`Heard message ${count}`)
    logs.child.kill('SIGINT')
    const { code: exitCode, stdout, stderr } = await logs.ended
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const messages = lines(stdout).map((line) => (JSON.parse(line) as { message: string }).message)
    expect(messages[0]).toMatch(/^Heard message \d+$/)
    const first = Number(messages[0]!.split(' ').at(-1))
    expect(messages).toEqual(messages.map((_, index) => `Heard message ${first + index}`))
  })

  it('prints what was logged, the gravest lines only, and since when it is asked to', async () => {
    const { stdout } = await isobot.run(['logs', 'waiter', '--level', 'warn', '--since', '1h'])
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}This will not end well ␛\[2J {2}\(evt_\w+\)\n/)
    expect(stdout).toMatch(/ERROR .*The kettle is broken/)
    expect(stdout).not.toContain('Heard')
    expect(await isobot.run(['logs', 'waiter', '--since', 'teatime'])).toMatchObject({ code: 2 })
  })

  it('ends without an error when its reader has ended', async () => {
    const command = `set -o pipefail; "${process.execPath}" "${launcher}" logs waiter -f --since 1h | head -n 1`
    const logs = isobot.startOther(['bash', '-c', command])
    const chatUser = await createChatUser(bot.chatUrl)
    const conversationId = await chatUser.createConversation()
    await expect
      .poll(async () => {
        await chatUser.send(conversationId, 'Is anybody there?')
        return logs.child.exitCode
      }, soon)
      .toBe(0)
    const { stdout, stderr } = await logs.ended
    expect({ lines: lines(stdout).length, stderr }).toEqual({ lines: 1, stderr: '' })
  })
})

describe('isobot events', () => {
  it('lists, shows and replays what failed', async () => {
    // Events of the tests before this one may still be handled, and fail after the list is read.
    const waiting = () => platform.context.db('events').where({ bot_id: bot.id }).whereNull('ended_at')
    await expect.poll(waiting, soon).toEqual([])
    const listed = await isobot.json<{ events: { id: string }[] }>('events', 'waiter', 'list', '--status', 'failed')
    const failed = { status: 'failed', failureReason: expect.stringContaining('kettle') }
    expect(listed.events).toEqual(listed.events.map(() => expect.objectContaining(failed)))
    const [{ id }] = listed.events as [{ id: string }]

    const shown = await isobot.run(['events', 'waiter', 'show', id])
    expect(shown.stdout).toContain(`${id}  message_created  failed`)
    expect(shown.stdout).toContain('hook afterIncomingMessage')
    expect(shown.stdout).toMatch(/WARN {2}This will not end well/)
    expect(await isobot.json('events', 'waiter', 'show', id)).toMatchObject({ event: { id, payload: {} } })

    const still = await isobot.run(['events', 'waiter', 'replay', id])
    expect(still).toMatchObject({ code: 1, stdout: expect.stringContaining('is failed now: ') })
    await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, {
      code: "export const hooks = { async afterIncomingMessage() { await fetch('https://kettles.example').catch(() => {}) } }",
    })
    expect(await isobot.json('events', 'waiter', 'replay', '--all', '--reason', 'kettle', '--yes')).toEqual({
      botId: bot.id,
      replayed: listed.events.length,
    })
    const path = `/v1/admin/bots/${bot.id}/events/${id}`
    await expect
      .poll(async () => (await platform.ask('GET', path)).body, soon)
      .toMatchObject({ event: { status: 'processed' } })
    const mended = await isobot.run(['events', 'waiter', 'show', id])
    expect(mended.stdout).toMatch(/fetch .*kettles\.example\S* +forbidden/)
    expect(mended.stdout).toMatch(/Run \d+: processed in \S+ ms \(processor \S+ ms\), after \S+ ms in the queue/)
  })
})

function linkToPlatform(): Promise<Link> {
  return openLink(() => Number(new URL(platform.url).port))
}

/** The platform's address by way of a link that can fail. */
function through({ port }: Link): string {
  return `http://127.0.0.1:${port}`
}

/** Runs a command at a terminal of its own. */
function atTerminal(parameters: readonly string[], url: string): RunningCommand {
  const command = [process.execPath, launcher, ...parameters].map((part) => `'${part}'`).join(' ')
  return isobot.startOther(['script', '--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    environment: { ISOBOT_URL: url, SHELL: '/bin/sh', TERM: 'xterm', NO_COLOR: '1' },
  })
}

function lines(text: string): string[] {
  return text.split('\n').filter(Boolean)
}
