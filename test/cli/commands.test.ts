import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Command } from 'commander'
import { freePort } from '../../cli/postgres/free-port.ts'
import { readUrl } from '../../cli/profiles.ts'
import { createProgram } from '../../cli/program.ts'
import { createMember, invite } from '../support/members.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { openCommandLine, type CommandLine } from './command-line.ts'
import { openProxy, page, type OwnAnswer } from './proxy.ts'

let platform: Platform
let isobot: CommandLine
beforeAll(async () => {
  platform = await openPlatform()
  isobot = await openCommandLine(platform)
})
afterAll(async () => {
  await isobot?.[Symbol.asyncDispose]()
  await platform?.[Symbol.asyncDispose]()
})

/** Whether a request reads the state of an erasure. */
function isLook({ method, url }: IncomingMessage): boolean {
  return method === 'GET' && url!.includes('/data-requests/')
}

describe('bots', () => {
  it('are created from a file, listed, rolled back and deleted', async () => {
    const file = join(isobot.folder, 'greeter.ts')
    await writeFile(file, 'export const hooks = { afterIncomingMessage() {} }')
    const { bot } = await isobot.json<{ bot: { id: string; name: string } }>('bots', 'create', '--file', file)
    expect(bot.name).toBe('greeter')
    await platform.ask('PUT', `/v1/admin/bots/${bot.id}`, { code: 'export const hooks = { afterTurnEnd() {} }' })

    const { versions } = await isobot.json<{ versions: { id: string; isDeployed: boolean }[] }>(
      'bots',
      'versions',
      'greeter',
    )
    const [second, first] = versions
    expect(versions.map((version) => version.isDeployed)).toEqual([true, false])
    expect(await isobot.json('bots', 'rollback', 'greeter')).toMatchObject({ from: second!.id, to: first!.id })
    expect(await isobot.json('bots', 'rollback', bot.id, '--to', second!.id)).toMatchObject({ to: second!.id })
    const listed = await isobot.run(['bots', 'list'])
    expect(listed.stdout).toMatch(new RegExp(`^NAME +ID +.*\n.*greeter +${bot.id} `))

    const unasked = await isobot.run(['bots', 'delete', 'greeter'])
    expect(unasked).toMatchObject({ code: 2, stdout: '' })
    expect(unasked.stderr).toContain('confirm with --yes')
    expect((await platform.ask('GET', `/v1/admin/bots/${bot.id}`)).status).toBe(200)
    expect(await isobot.json('bots', 'delete', 'greeter', '--yes')).toEqual({
      deleted: { id: bot.id, name: 'greeter' },
    })
    expect((await platform.ask('GET', `/v1/admin/bots/${bot.id}`)).status).toBe(404)
  })

  it('have a person exported to a new file, and erased with the rows that name the person', async () => {
    const { body } = await platform.ask('POST', '/v1/admin/bots', { name: 'shop' })
    const headers = { 'x-bot-id': String(body.bot.id) }
    const path = join(isobot.folder, 'ada.ndjson')
    await platform.ask('POST', '/v1/chat/users', { name: 'Ada', tags: { mail: 'ada@shop.test' } }, headers)
    const payload = { of: 'ada@shop.test' }
    const state = await platform.ask('POST', `/v1/chat/states/bot/${body.bot.id}/last`, { payload }, headers)
    expect(state.status).toBeLessThan(300)
    const person = ['--bot', 'shop', '--email', 'Ada@shop.test']
    expect(await isobot.json('users', 'export', ...person, '--output', path)).toEqual({ path, rows: 2 })
    const exported = await readFile(path, 'utf8')
    expect(exported).toContain('ada@shop.test')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const again = await isobot.run(['users', 'export', ...person, '--output', path])
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('exists already') })
    expect(await readFile(path, 'utf8')).toBe(exported)

    expect((await isobot.run(['users', 'erase', ...person])).stderr).toContain('confirm with --yes')
    const erased = await isobot.run(['users', 'erase', ...person, '--yes'])
    expect(erased.stdout).toMatch(/^Erased one user user_\w+\nErased rows: 1 user\nOne other row names the person:\n/)
    const rest = await isobot.json<{ dataRequest: object }>('users', 'erase', ...person, '--findings', '--yes')
    expect(rest.dataRequest).toMatchObject({ status: 'completed', erased: { state: 1 }, findings: 0 })
  })

  it('have a person erased through an outage, and name the request when its end cannot be read', async () => {
    const { body } = await platform.ask('POST', '/v1/admin/bots', { name: 'outage' })
    const headers = { 'x-bot-id': String(body.bot.id) }
    const erase = async (mail: string, answer: (request: IncomingMessage) => OwnAnswer | undefined) => {
      await platform.ask('POST', '/v1/chat/users', { tags: { mail } }, headers)
      await using proxy = await openProxy(platform.url, answer)
      return await isobot.run(['users', 'erase', '--bot', 'outage', '--email', mail, '--yes'], {
        environment: { ISOBOT_URL: proxy.url },
      })
    }
    let looks = 0
    const through = await erase('eve@outage.test', (request) =>
      isLook(request) && looks++ < 2 ? { status: 502, body: page('Bad Gateway') } : undefined,
    )
    expect(through).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Erased one user /) })
    expect(through.stderr).toMatch(/The erasure is the data request \w+, which goes on if this command is interrupted/)
    expect(looks).toBeGreaterThan(2)
    const refused = await erase('mallory@outage.test', (request) =>
      isLook(request) ? { status: 429, body: page('Too Many Requests') } : undefined,
    )
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    const [, id] = /The erasure is the data request (\w+), which goes on: GET/.exec(refused.stderr) ?? []
    const state = async () => (await platform.ask('GET', `/v1/admin/data-requests/${id}`)).body.dataRequest.status
    await expect.poll(state, { timeout: 30_000 }).toBe('completed')
  })

  it('have no person exported from elsewhere: redirects are not followed, and pages of a proxy are none', async () => {
    await using elsewhere = await openProxy(platform.url, () => ({ status: 200, body: '{}' }))
    let answer: OwnAnswer = { status: 307, headers: { location: `${elsewhere.url}/v1/admin/users/export` } }
    await using proxy = await openProxy(platform.url, () => answer)
    const path = join(isobot.folder, 'redirected.ndjson')
    const run = () =>
      isobot.run(['users', 'export', '--email', 'ada@shop.test', '--output', path], {
        environment: { ISOBOT_URL: proxy.url },
      })
    expect(await run()).toMatchObject({ code: 3, stderr: expect.stringContaining(`redirects to ${elsewhere.url}`) })
    expect(elsewhere.requests).toEqual([])
    answer = { status: 502, body: page('Bad Gateway') }
    expect(await run()).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('a proxy before the platform answers 502'),
    })
    answer = { status: 200, headers: { 'content-type': 'text/html' }, body: page('Sign in') }
    expect(await run()).toMatchObject({ code: 3, stderr: expect.stringContaining('is not Isobot: 200 Sign in') })
    await expect(stat(path)).rejects.toThrow('ENOENT')
  })

  it('that are not meant clearly are asked about', async () => {
    for (const name of ['order-desk', 'twin', 'twin']) await platform.ask('POST', '/v1/admin/bots', { name })
    const unknown = await isobot.run(['bots', 'versions', 'order-dsek'])
    expect(unknown).toMatchObject({ code: 1, stdout: '' })
    expect(unknown.stderr).toContain('no bot "order-dsek"; did you mean "order-desk"?')
    const unlike = await isobot.run(['bots', 'versions', 'nothing-like-it'])
    expect(unlike.stderr).toContain('no bot "nothing-like-it". `isobot bots list` shows its bots')
    const ambiguous = await isobot.run(['bots', 'versions', 'twin'])
    expect(ambiguous.code).toBe(2)
    expect(ambiguous.stderr).toMatch(/2 bots have the name "twin".*\n {2}bot_\w+ .*\n {2}bot_\w+ /)
  })

  it('are not uploaded with code that does not load: the place is named', async () => {
    const file = join(isobot.folder, 'broken.ts')
    await writeFile(file, 'export const hooks = {\n  afterIncomingMessage( {},\n}\n')
    const refused = await isobot.run(['bots', 'create', 'broken', '--file', file, '--json'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(refused.stderr)).toMatchObject({
      error: { exitCode: 1, type: 'InvalidPayload', message: expect.stringContaining(`${file}:3:1: `) },
    })
  })
})

describe('webchat', () => {
  it('puts a bot on pages of origins that are named by and by, and keeps what else its web chat has', async () => {
    const { id } = await platform.createBot(undefined, { name: 'tea-shop' })
    const { stdout, stderr } = await isobot.run(['webchat', 'tea-shop'])
    const [, url] = /^<script src="(.+)\/inject\.js" async><\/script>\n/.exec(stdout) ?? []
    expect(stdout).toContain(`${url}/chat`)
    expect(stderr).toContain('all origins')
    const configuration = { botName: 'Ada', encryptionKey: 'kept' }
    await platform.ask('PUT', `/v1/admin/bots/${id}`, { integrations: { webchat: { configuration } } })
    const origins = ['https://shop.example', 'https://www.shop.example']
    await isobot.json('webchat', id, '--origin', `${origins[0]!}/a/page`)
    expect(await isobot.json('webchat', id, '--origin', origins[1]!)).toEqual({
      botId: id,
      tag: `<script src="${url}/inject.js" async></script>`,
      page: `${url}/chat`,
      allowedOrigins: origins,
    })
    const { body } = await platform.ask('GET', `/v1/admin/bots/${id}`)
    expect(body.bot.integrations.webchat.configuration).toEqual({ ...configuration, allowedOrigins: origins })
    const refused = await isobot.run(['webchat', id, '--origin', 'shop.example'])
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('https://www.example.com') })
  })
})

describe('profiles', () => {
  it('are kept by login for their owner alone, chosen and forgotten', async () => {
    await using own = await openCommandLine()
    const { url, token, workspaceId } = platform
    const loggedIn = await own.run(['login', '--url', url, '--profile', 'test'], { input: `${token}\n` })
    expect(loggedIn.code).toBe(0)
    const file = join(own.folder, 'settings', 'profiles.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      current: 'test',
      profiles: { test: { url, token, workspaceId } },
    })

    const wrong = await own.run(['login', '--url', url, '--profile', 'wrong'], { input: 'wrong-token' })
    expect(wrong).toMatchObject({ code: 3, stdout: '' })
    expect(await own.json('profiles', 'list')).toEqual({
      profiles: [{ name: 'test', url, workspaceId, isCurrent: true }],
    })
    const unknown = await own.run(['bots', 'list', '--profile', 'tset'])
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('the profiles are test') })
    expect(await own.json('profiles', 'use', 'test')).toEqual({ current: 'test' })
    await own.json('profiles', 'remove', 'test')
    expect(await own.run(['bots', 'list'])).toMatchObject({ code: 3, stderr: expect.stringContaining('isobot login') })
  })

  it('are made by an invitation, for a new account or for one that is there, and so is membership', async () => {
    await using own = await openCommandLine()
    const { url, token, workspaceId } = platform
    const client = new Client({ apiUrl: url, token, workspaceId })
    const first = await invite(client, 'cli-first@example.com', 'developer')
    const link = `${url}/console/invitation#${first.invitation}`
    expect((await own.run(['login', '--invitation', link, '--profile', 'new'])).code).toBe(0)
    expect(await own.json('bots', 'list')).toHaveProperty('bots')
    const kept = await readFile(join(own.folder, 'settings', 'profiles.json'), 'utf8')
    expect(JSON.parse(kept).profiles.new).toMatchObject({ url, workspaceId, token: expect.stringMatching(/^pat_/) })
    const again = await own.run(['login', '--url', url, '--profile', 'again'], { input: first.invitation })
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('was accepted') })

    const tenant = await createMember(platform, 'owner')
    const as = ['--token', tenant.authorization.slice('Bearer '.length), '--profile', 'both']
    const second = await invite(client, 'cli-second@example.com', 'viewer')
    expect((await own.run(['login', '--url', url, '--invitation', second.invitation, ...as])).code).toBe(0)
    const { body } = await platform.ask('GET', '/v1/admin/workspaces', undefined, tenant)
    expect(body.workspaces.map(({ id }: { id: string }) => id)).toContain(workspaceId)
  })

  it('are not kept in silence for an address that is not encrypted', async () => {
    await using own = await openCommandLine()
    const address = 'http://bots.example.invalid'
    const { code, stderr } = await own.run(['login', '--url', address, '--workspace', 'any'], { input: 'some-token' })
    expect(code).toBe(3)
    expect(stderr).toContain(`${address} is not encrypted`)
  })

  it.each([
    ['bots.example.com', 'https://bots.example.com'],
    ['localhost:3000', 'http://localhost:3000'],
    ['localhost.example.com:3000', 'https://localhost.example.com:3000'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://bots.example.com/', 'http://bots.example.com'],
  ])('know by "%s" the platform at %s', (text, url) => {
    expect(readUrl(text)).toBe(url)
  })

  it('need no login for the platform that was started on the same machine', async () => {
    await using own = await openCommandLine()
    await mkdir(join(own.folder, 'data'))
    const { url, token, workspaceId } = platform
    const credentials = { baseUrl: url, chatUrl: `${url}/chat`, token, workspaceId, botId: '', webhookId: '' }
    await writeFile(join(own.folder, 'data', 'credentials.json'), JSON.stringify(credentials))
    expect(await own.json('profiles', 'list')).toEqual({
      profiles: [{ name: 'local', url, workspaceId, isCurrent: true }],
    })
    expect(await own.json('bots', 'list')).toHaveProperty('bots')
    const refused = await own.run(['bots', 'list'], { environment: { ISOBOT_URL: url, ISOBOT_TOKEN: 'another' } })
    expect(refused.code).toBe(3)
    expect(await own.run(['bots', 'list'], { environment: { ISOBOT_URL: url } })).toMatchObject({ code: 2 })
  })
})

describe('errors', () => {
  it('with the way to the platform ends with 3, and says what to do', async () => {
    const at = (url: string, token = platform.token) =>
      isobot.run(['bots', 'list'], { environment: { ISOBOT_URL: url, ISOBOT_TOKEN: token } })
    const refused = await at(platform.url, 'no-such-token')
    expect(refused).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('Set ISOBOT_TOKEN to a valid one'),
    })
    const nobody = await at(`http://127.0.0.1:${await freePort()}`)
    expect(nobody).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('`isobot start`') })
    expect(nobody.stderr.trim().split('\n')).toHaveLength(1)

    const other = createServer((_request, response) => response.end('<h1>Hello</h1>')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const stranger = await at(`http://127.0.0.1:${(other.address() as AddressInfo).port}`)
    other.close()
    expect(stranger).toMatchObject({ code: 3, stderr: expect.stringContaining('is not Isobot') })
  })

  it('of a proxy before the platform are told apart from another service, and redirects name their address', async () => {
    let answer = { status: 200, headers: {} as Record<string, string>, body: '' }
    const requests: string[] = []
    await using proxy = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`)
      response.writeHead(answer.status, answer.headers).end(answer.body)
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const file = join(isobot.folder, 'proxied.ts')
    await writeFile(file, 'export const hooks = { afterIncomingMessage() {} }')
    const create = () => isobot.run(['bots', 'create', '--file', file], { environment: { ISOBOT_URL: url } })
    const list = () => isobot.run(['bots', 'list'], { environment: { ISOBOT_URL: url } })

    answer = { status: 503, headers: {}, body: page('Service Unavailable') }
    expect(await list()).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('cannot answer now: a proxy before the platform answers 503 Service Unavailable'),
    })
    answer = { status: 413, headers: {}, body: page('413 Request Entity Too Large') }
    const tooLarge = await create()
    expect(tooLarge).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        '(413 Request Entity Too Large): raise its limit, as client_max_body_size of nginx, to 50 MB',
      ),
    })
    answer = { status: 301, headers: { location: `https://bots.example.com/v1/admin/bots` }, body: '' }
    requests.length = 0
    const redirected = await create()
    expect(redirected).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('set ISOBOT_URL to https://bots.example.com\n'),
    })
    expect(requests).toHaveLength(1)
    answer = { status: 200, headers: {}, body: '{"hello":"world"}' }
    expect(await list()).toMatchObject({ code: 3, stderr: expect.stringContaining('is not Isobot: 200 {"hello"') })
  })

  it('in the files of profiles name the file', async () => {
    const settings = isobot.environment.ISOBOT_CONFIG_DIR!
    const data = isobot.environment.ISOBOT_DATA_DIR!
    const environment = { ISOBOT_URL: '', ISOBOT_TOKEN: '' }
    await mkdir(settings, { recursive: true })
    await mkdir(data, { recursive: true })
    const profiles = join(settings, 'profiles.json')
    const credentials = join(data, 'credentials.json')
    try {
      for (const content of ['{"profiles":null}', '{"profiles":{"a":{"url":"http://localhost:1"}}}', '{']) {
        await writeFile(profiles, content)
        const { code, stderr } = await isobot.run(['bots', 'list'], { environment })
        expect([code, stderr]).toEqual([1, expect.stringContaining(`${profiles} `)])
      }
      await rm(profiles)
      for (const content of ['{', 'null']) {
        await writeFile(credentials, content)
        const { code, stderr } = await isobot.run(['bots', 'list'], { environment })
        expect([code, stderr]).toEqual([1, expect.stringContaining(`${credentials} is not valid JSON`)])
      }
    } finally {
      await rm(profiles, { force: true })
      await rm(credentials, { force: true })
    }
  })

  it('with the command line ends with 2, and suggests what may have been meant', async () => {
    const [unknown, choice, option] = await Promise.all([
      isobot.run(['bot', 'list']),
      isobot.run(['events', 'greeter', 'lst']),
      isobot.run(['logs', 'greeter', '--folow', '--json']),
    ])
    expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('did you mean bots') })
    expect(choice).toMatchObject({ code: 2, stderr: expect.stringContaining('list, show, replay') })
    expect(option.code).toBe(2)
    expect(JSON.parse(option.stderr)).toMatchObject({
      error: { exitCode: 2, message: expect.stringContaining('--follow') },
    })
  })

  it('are printed with their details on request', async () => {
    const environment = { ISOBOT_URL: `http://127.0.0.1:${await freePort()}` }
    const { stderr } = await isobot.run(['bots', 'list', '--verbose'], { environment })
    expect(stderr).toMatch(/\n {4}at .*connection\.ts/)
    expect(stderr).toContain('ECONNREFUSED')
    expect(stderr).not.toContain(platform.token)
  })
})

describe('help', () => {
  it('has an example for every command', async () => {
    const without = descendants(await createProgram()).filter((command) => {
      let help = ''
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
      return command.description() === '' || !/\nExamples?:\n {2}\$ isobot \w/.test(help)
    })
    expect(without.map((command) => command.name())).toEqual([])
  })

  it('has the commands of docs/command-line.md, and no others', async () => {
    const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'command-line.md'), 'utf8')
    const rows = Array.from(page.matchAll(/^\| (`isobot .*?) +\|/gm), ([, cell]) => cell!)
    const named = rows.flatMap((cell) => {
      const [first = '', ...others] = Array.from(cell.matchAll(/`([^`]+)`/g), ([, text]) => text!)
      const words = first.split(' ').filter((word) => /^[a-z][a-z\d]*$/.test(word))
      const parent = words.slice(0, others.some((other) => !other.startsWith('isobot')) ? -1 : undefined).join(' ')
      return [words.join(' '), ...others.map((other) => (other.startsWith('isobot') ? other : `${parent} ${other}`))]
    })
    // `show` and others are arguments of these two.
    const commands = (await createProgram()).commands.flatMap((command) => {
      const name = `isobot ${command.name()}`
      return command.commands.length > 0 ? command.commands.map((child) => `${name} ${child.name()}`) : [name]
    })
    const byArgument = /^isobot (events|profiles)\b/
    const without = (list: string[]) => list.filter((name) => !byArgument.test(name)).toSorted()
    expect(without(named)).toEqual(without(commands))
  })
})

describe('the program', () => {
  it('for the parameters of a command has this command only, which loads no other', async () => {
    const names = (await createProgram()).commands.map((command) => command.name())
    expect(names.length).toBeGreaterThan(30)
    for (const name of names) {
      const { commands } = await createProgram([name, 'list'])
      expect(commands.map((command) => command.name())).toEqual([name])
    }
  })

  it('has all commands where the first parameter names none', async () => {
    const count = (await createProgram()).commands.length
    for (const parameters of [['--json', 'bots', 'list'], ['help', 'bots'], ['toString'], ['bot', 'list']]) {
      expect((await createProgram(parameters)).commands).toHaveLength(count)
    }
  })
})

describe('the launcher', () => {
  it.each(['18.0.0', '26.10.0'])(
    'on Node %s finds the needed one, and passes on its output and exit code',
    async (asNode) => {
      const outcome = await isobot.run(['events', 'greeter', 'show'], { asNode })
      expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Name the event to show') })
    },
  )
})

function descendants(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...descendants(child)])
}
