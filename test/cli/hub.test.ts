import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { create, Header } from 'tar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ImportedItem } from '../../cli/hub/import.ts'
import { literalHostsIn } from '../../cli/hub/literal-hosts.ts'
import { findProjects } from '../../cli/hub/projects.ts'
import { unpack } from '../../cli/hub/unpack.ts'
import { openPackageRegistry } from '../support/package-registry.ts'
import { openPlatform, type Platform } from '../support/platform.ts'
import { findPublishedCli, openPublishedCli, remedy, type PublishedCli } from '../support/published-cli.ts'
import { openCommandLine, type CommandLine } from './command-line.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isobot-hub-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('isobot hub import', () => {
  let platform: Platform
  let isobot: CommandLine
  let bp: string | undefined
  let cli: PublishedCli
  beforeAll(async () => {
    bp = await findPublishedCli()
    platform = await openPlatform()
    isobot = await openCommandLine(platform)
    if (bp !== undefined) cli = await openPublishedCli(bp, platform)
  }, 300_000)
  afterAll(async () => {
    await cli?.[Symbol.asyncDispose]()
    await isobot?.[Symbol.asyncDispose]()
    await platform?.[Symbol.asyncDispose]()
  })

  const publicNames = async () => {
    const { body } = await platform.ask('GET', '/v1/admin/hub/integrations')
    return body.integrations.map(({ name }: { name: string }) => name) as string[]
  }

  /** Runs the command, and returns its exit code and its report. */
  async function runImport(
    source: string,
    ...options: string[]
  ): Promise<[code: number | null, items: ImportedItem[]]> {
    const { code, stdout, stderr } = await isobot.run(['hub', 'import', source, '--bp', bp!, '--json', ...options])
    if (stdout === '') throw new Error(stderr)
    return [code, (JSON.parse(stdout) as { items: ImportedItem[] }).items]
  }

  test('publishes what is built, refuses the rest by name, and says so', { timeout: 180_000 }, async ({ skip }) => {
    if (bp === undefined) return skip(remedy)
    const good = await cli.createProject('hello-world', 'good', (text) =>
      text.replace('"hello-world"', '"acme/greeting"'),
    )
    const source = join(folder, 'projects')
    await mkdir(join(source, 'broken'), { recursive: true })
    await rename(good, join(source, 'good'))
    await writeFile(
      join(source, 'good', 'src', 'index.ts'),
      `import * as bp from '.botpress'
       export default new bp.Integration({ register: async () => {}, unregister: async () => {}, handler: async () => {},
         actions: { helloWorld: async () => ({ message: await (await fetch('https://api.greeting.test/v1')).text() }) }, channels: {} })`,
    )
    await writeFile(join(source, 'broken', 'integration.definition.ts'), `throw new Error('no definition')`)
    await writeFile(join(source, 'broken', 'package.json'), '{}')
    await symlink(join(source, 'good', 'node_modules'), join(source, 'broken', 'node_modules'))
    await mkdir(join(source, 'cut'))
    await writeFile(join(source, 'cut', 'integration.definition.ts'), '')
    await writeFile(join(source, 'cut', 'package.json'), '{')

    const [, built] = await runImport(source, '--dry-run')
    expect(built.map(({ folder: at, status }) => [at, status])).toEqual([
      ['broken', 'refused'],
      ['cut', 'refused'],
      ['good', 'built'],
    ])
    expect(await publicNames()).not.toContain('acme/greeting')

    const [code, items] = await runImport(source)

    expect(code).toBe(1)
    expect(items).toMatchObject([
      { kind: 'integration', folder: 'broken', status: 'refused', problem: expect.stringMatching(/^bp build: ./) },
      { kind: 'integration', folder: 'cut', status: 'refused', problem: expect.stringContaining('JSON') },
      {
        kind: 'integration',
        folder: 'good',
        name: 'acme/greeting',
        status: 'published',
        literalHosts: ['api.greeting.test'],
      },
    ])
    expect(await publicNames()).toContain('acme/greeting')
    const { stdout } = await isobot.run(['hub', 'list'])
    expect(stdout).toMatch(/^acme\/greeting +0\.0\.1 /m)
    // This version of bp changes no public version.
    const [, again] = await runImport(join(source, 'good'))
    expect(again).toMatchObject([{ status: 'refused', problem: expect.stringContaining('bump the version') }])
  })

  test('names all secrets that an integration still requires at once', { timeout: 120_000 }, async ({ skip }) => {
    if (bp === undefined) return skip(remedy)
    const project = await cli.createProject('hello-world', 'locked', (text) =>
      text.replace('"hello-world"', '"acme/locked"'),
    )
    const file = join(project, 'integration.definition.ts')
    const secrets = 'secrets: { FIRST: {}, GIVEN: {}, NOTE: { optional: true }, LAST: {} },\n  version:'
    await writeFile(file, (await readFile(file, 'utf8')).replace('version:', secrets))

    const [code, [item]] = await runImport(project, '--secret', 'GIVEN=a')
    expect([code, item?.problem]).toEqual([
      1,
      'bp deploy: Secret "FIRST" is required: give FIRST and LAST with --secret <name>=<value>',
    ])

    const [, items] = await runImport(project, ...['FIRST=a', 'GIVEN=a', 'LAST=a'].flatMap((one) => ['--secret', one]))
    expect(items).toMatchObject([{ name: 'acme/locked', status: 'published' }])
  })

  test(
    'takes a package of a registry with its dependencies, and runs no script of either',
    { timeout: 240_000 },
    async ({ skip }) => {
      if (bp === undefined) return skip(remedy)
      const project = await cli.createProject('hello-world', 'package', (text) =>
        text.replace('"hello-world"', '"acme/packaged"'),
      )
      const manifest = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as Record<string, object>
      const marked = join(folder, 'a-script-has-run')
      const scripts = { preinstall: `touch ${marked}`, prepare: `touch ${marked}`, prepack: `touch ${marked}` }
      const packaged = {
        ...manifest,
        name: '@acme/packaged-integration',
        version: '1.2.3',
        private: undefined,
        scripts,
        dependencies: { ...manifest['dependencies'], 'acme-words': '^2.0.0' },
        devDependencies: {},
      }
      await rm(join(project, 'node_modules'))
      await writeFile(join(project, 'package.json'), JSON.stringify(packaged))
      await writeFile(
        join(project, 'src', 'index.ts'),
        `import * as bp from '.botpress'
       import { greeting } from 'acme-words'
       export default new bp.Integration({ register: async () => {}, unregister: async () => {}, handler: async () => {},
         actions: { helloWorld: async () => ({ message: greeting }) }, channels: {} })`,
      )
      const words = join(folder, 'words')
      await mkdir(words)
      const ofWords = { name: 'acme-words', version: '2.0.1', main: 'index.js', scripts }
      await writeFile(join(words, 'package.json'), JSON.stringify(ofWords))
      await writeFile(join(words, 'index.js'), `exports.greeting = 'Hello from a package'`)
      await using registry = await openPackageRegistry([
        { manifest: packaged, archive: await packed(project) },
        { manifest: ofWords, archive: await packed(words) },
      ])
      const { stdout: cache } = await promisify(execFile)('npm', ['config', 'get', 'cache'])
      const environment = { npm_config_registry: registry.url, npm_config_cache: cache.trim() }
      const importing = ['hub', 'import', '@acme/packaged-integration@^1.0.0', '--bp', bp, '--json']

      const { code, stdout, stderr } = await isobot.run(importing, { environment })

      expect([code, stderr, JSON.parse(stdout)]).toMatchObject([
        0,
        '',
        { items: [{ kind: 'integration', name: 'acme/packaged', status: 'published' }] },
      ])
      expect(registry.requests).toContain('/acme-words')
      expect(await publicNames()).toContain('acme/packaged')
      expect(existsSync(marked)).toBe(false)
      const absent = await isobot.run(['hub', 'import', 'acme-words@9', '--bp', bp], { environment })
      expect(absent).toMatchObject({ code: 1, stderr: expect.stringContaining('npm has no package acme-words@9') })
    },
  )

  test('isobot hub list shows the public ones of a kind', async () => {
    expect(await isobot.json('hub', 'list')).toMatchObject({
      integrations: expect.arrayContaining([expect.objectContaining({ name: 'webchat' })]),
    })
    expect(await isobot.json('hub', 'list', 'plugins')).toEqual({ plugins: [] })
    expect(await isobot.run(['hub', 'list', 'bots'])).toMatchObject({ code: 2 })
  })

  test.each([
    ['a file that is no archive', 'package.json'],
    ['a path that is not there', './nothing/here'],
    ['an address', 'https://a.example/a.tgz'],
    ['options of npm', '--registry=https://a.example'],
  ])('refuses %s', async (_what, source) => {
    await writeFile(join(isobot.folder, 'package.json'), '{}')
    expect(await isobot.run(['hub', 'import', '--', source])).toMatchObject({ code: 2 })
  })
})

/** The archive of a package, as npm writes it. */
async function packed(from: string): Promise<Buffer> {
  const file = `${from}.tgz`
  await create({ file, cwd: from, gzip: true, prefix: 'package' }, ['.'])
  return readFile(file)
}

/** An archive of entries that no honest program writes. */
function archiveOf(...entries: { path: string; type?: 'File' | 'SymbolicLink' | 'Link'; linkpath?: string }[]): Buffer {
  const blocks = entries.map(({ path, type = 'File', linkpath }) => {
    const size = type === 'File' ? 4 : 0
    const header = new Header({ path, type, size, mode: 0o644, ...(linkpath !== undefined && { linkpath }) })
    const block = Buffer.alloc(512)
    header.encode(block)
    const content = Buffer.alloc(size > 0 ? 512 : 0)
    content.write('evil')
    return Buffer.concat([block, content])
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

describe('an archive', () => {
  test('is unpacked', async () => {
    const from = join(folder, 'honest')
    await mkdir(join(from, 'package', 'src'), { recursive: true })
    await writeFile(join(from, 'package', 'interface.definition.ts'), '')
    await writeFile(join(from, 'package', 'src', 'index.ts'), 'content')
    await create({ file: join(folder, 'honest.tgz'), cwd: from, gzip: true }, ['package'])
    const to = join(folder, 'unpacked')
    await unpack(join(folder, 'honest.tgz'), to)
    expect(await findProjects(to)).toMatchObject([{ kind: 'interfaces', name: 'package' }])
  })

  test.each([
    ['a path above it', archiveOf({ path: 'a.txt' }, { path: '../outside.txt' }), /leads out/],
    ['an absolute path', archiveOf({ path: '/tmp/outside.txt' }), /leads out/],
    ['a path of Windows', archiveOf({ path: 'C:\\outside.txt' }), /leads out/],
    ['a link', archiveOf({ path: 'a', type: 'SymbolicLink', linkpath: '/etc' }, { path: 'a/b' }), /is a SymbolicLink/],
    ['a hard link', archiveOf({ path: 'a', type: 'Link', linkpath: '../../etc/passwd' }), /is a Link/],
    ['300 MB of zeros', gzipSync(Buffer.alloc(300 * 1024 * 1024), { level: 1 }), /more than 256 MB/],
    ['too many files', archiveOf(...Array.from({ length: 20_001 }, (_, n) => ({ path: `${n}` }))), /20000 files/],
    ['a compressed archive inside', gzipSync(archiveOf({ path: 'a' })), /compressed twice/],
    ['compression by zstd', zstdCompressSync(Buffer.alloc(2048)), /not by gzip/],
    ['no tar inside', gzipSync('nothing'), /is not unpacked/],
    ['no compression that is known', Buffer.from([0x1f, 0x8b, 1, 2, 3]), /no archive/],
  ])('with %s is refused, and nothing of it is written', async (_what, content, problem) => {
    const path = join(folder, 'hostile.tgz')
    await writeFile(path, content)
    const to = join(folder, 'hostile')
    await expect(unpack(path, to)).rejects.toThrow(problem)
    expect(await readdir(folder)).not.toContain('hostile')
    expect(await readdir(folder)).not.toContain('outside.txt')
  })
})

test('projects below links and modules are not found', async () => {
  const root = join(folder, 'many')
  for (const path of ['b/plugin.definition.ts', 'a/integration.definition.ts', 'node_modules/c/plugin.definition.ts']) {
    await mkdir(join(root, path, '..'), { recursive: true })
    await writeFile(join(root, path), '')
  }
  await symlink(join(root, 'a'), join(root, 'link'))
  expect((await findProjects(root)).map(({ kind, name }) => [kind, name])).toEqual([
    ['integrations', 'a'],
    ['plugins', 'b'],
  ])
})

test('hosts of a bundle are those of addresses, without the pages that libraries mention', () => {
  const code = `fetch("https://api.stripe.com/v1"); const a = \`https://\${host}/x\`; // https://github.com/a/b
    const b = 'https://eu.api.vendor.dev'; const c = 'https://1.2.3'; const d = 'http://plain.test'; const e = 'https://api.botpress.cloud'`
  expect(literalHostsIn(code)).toEqual(['api.stripe.com', 'eu.api.vendor.dev'])
})
