import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { Header } from 'tar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundleOnce } from '../../../cli/dry-run/find-code.ts'
import { convertExport, writeProjects } from '../../../cli/import/v12/import.ts'
import type { ImportedProject } from '../../../cli/import/v12/project.ts'
import { openProject } from '../../../cli/project/project.ts'
import { checkFlows } from '#shared/flows/check-flows.ts'
import { openCommandLine } from '../command-line.ts'
import { flow, next, node, openExports, pizzeria, text, type Exports } from './exports.ts'

let exports: Exports
beforeAll(async () => {
  exports = await openExports()
})
afterAll(() => exports[Symbol.asyncDispose]())

const config = { 'bot.config.json': { id: 'bot', defaultLanguage: 'en' } }
const hello = { 'content-elements/builtin_text.json': [text('builtin_text-hello', { text$en: 'Hello' })] }

let count = 0

/** Imports an export of one bot from a folder. */
async function convert(files: Record<string, unknown>): Promise<ImportedProject> {
  count += 1
  const [project] = await convertExport(await exports.write(`export-${count}`, { ...config, ...hello, ...files }))
  checkFlows(project!.flows)
  return project!
}

function reportOf({ files }: ImportedProject): string {
  return files.get('REPORT.md')!.replaceAll('\\', '')
}

function cardsOf({ flows }: ImportedProject, flowId: string, nodeId: string) {
  return flows.find(({ id }) => id === flowId)!.nodes.find(({ id }) => id === nodeId)!.cards
}

/** A bot whose flow `main` has one node with these instructions. */
function botOf(onEnter: string[], others: object = {}): Record<string, unknown> {
  return { 'flows/main.flow.json': flow('entry', [node('entry', { onEnter, next: next({ true: 'END' }), ...others })]) }
}

describe('forms of exports', () => {
  test('an archive and a folder of the same bot give the same project', async () => {
    const [packed] = await convertExport(await exports.pack('same', pizzeria))
    const [folder] = await convertExport(join(exports.folder, 'same'))
    expect(packed!.files.size).toBeGreaterThan(8)
    expect(Object.fromEntries(packed!.files)).toEqual(Object.fromEntries(folder!.files))
    expect(packed!.totals).toMatchObject({ authorNodes: 9, wholeNodes: 9, lost: 0 })
  })

  test('a data folder gives a project for each bot, with the actions that they share', async () => {
    const data = await exports.write('data', {
      'data/global/botpress.config.json': {},
      'data/global/actions/greet.js': 'temp.greeted = true',
      'data/global/actions/builtin/wait.js': 'not parsed',
      'data/bots/one/bot.config.json': { id: 'one' },
      'data/bots/one/flows/main.flow.json': flow('entry', [node('entry', { onEnter: ['greet'] })]),
      'data/bots/two/bot.config.json': { id: 'two' },
      'data/bots/two/flows/main.flow.json': flow('entry', [node('entry')]),
    })
    const projects = await convertExport(data)
    expect(projects.map(({ id }) => id)).toEqual(['one', 'two'])
    expect(projects[0]!.files.get('actions/greet.js')).toContain('temp.greeted = true')
    expect(cardsOf(projects[0]!, 'main', 'entry')).toMatchObject([
      { type: 'action', action: 'greet' },
      { type: 'code' },
    ])
    const folders = await writeProjects(projects, join(exports.folder, 'out'))
    expect(folders).toEqual([join(exports.folder, 'out/one'), join(exports.folder, 'out/two')])
    await expect(writeProjects(projects, join(exports.folder, 'out'))).rejects.toThrow('is not empty')
  })

  test('the command writes the project of an archive, and prints its totals', async () => {
    await using isobot = await openCommandLine()
    const archive = await exports.pack('command', pizzeria)
    const out = join(exports.folder, 'written')
    const { bots } = await isobot.json<{ bots: object[] }>('import', 'v12', archive, '--out', out)
    expect(bots).toEqual([expect.objectContaining({ id: 'pizzeria', folder: out, flows: 4, lost: 0 })])
    expect(await readdir(out)).toEqual(expect.arrayContaining(['REPORT.md', 'bot.ts', 'flows', 'isobot.json']))
    expect(JSON.parse(await readFile(join(out, 'flows/main.layout.json'), 'utf8'))).toEqual({ entry: { x: 10, y: 20 } })
    const refused = await isobot.run(['import', 'v12', isobot.folder, '--out', `${out}-2`])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('has no bot of v12') })
  })
})

describe('the report', () => {
  test('one flow that cannot be read does not affect the others', async () => {
    const project = await convert({
      'flows/main.flow.json': flow('entry', [
        node('entry', { onEnter: ['say #!builtin_text-hello'], next: next({ true: 'broken.flow.json' }) }),
      ]),
      'flows/broken.flow.json': '{ "nodes": [',
      'flows/empty.flow.json': { version: '0.0.1' },
    })
    expect(project.flows.map(({ id }) => id)).toEqual(['main'])
    expect(reportOf(project)).toMatch(/flows\/broken.flow.json .*JSON/)
    expect(reportOf(project)).toContain('| flows/empty.flow.json |  | the flow: it has no nodes |')
    expect(reportOf(project)).toContain('| entry | the transition to broken.flow.json: there is no such flow |')
  })

  test('a byte-order mark is no problem, and names of prototypes are left out', async () => {
    const main = flow('entry', [
      node('entry', { onEnter: ['builtin/setVariable {"type":"temp","name":"__proto__","value":"x"}'] }),
    ])
    const project = await convert({
      'flows/main.flow.json': `\uFEFF${JSON.stringify(main).replace('{', '{"__proto__":{"polluted":true},')}`,
    })
    expect(project.flows).toHaveLength(1)
    expect(reportOf(project)).toContain('| the name __proto__ |')
    expect(reportOf(project)).toContain('| the variable temp.__proto__ |')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test.each([
    ['an unknown element', 'say #!builtin_text-none', 'the element builtin_text-none: there is no such element'],
    ['an unknown action', 'send_fax {}', 'the instruction send_fax {}'],
    ['arguments that are no JSON', 'builtin/wait {delay', 'its arguments are no JSON'],
    ['contexts of language understanding', 'builtin/appendContext {"contexts":"a","ttl":"1"}', 'builtin/appendContext'],
    ['an action server', 'srv:pay {}', 'the instruction srv:pay {}'],
  ])('names %s with its node', async (_kind, instruction, element) => {
    const project = await convert(botOf([instruction, 'say #!builtin_text-hello']))
    expect(reportOf(project)).toContain('| flows/main.flow.json | entry |')
    expect(reportOf(project)).toContain(element)
    expect(cardsOf(project, 'main', 'entry')).toEqual([{ id: 'say_1', type: 'say', message: 'Hello' }])
    expect(project.totals).toMatchObject({ authorNodes: 1, wholeNodes: 0, lost: 1 })
  })

  test('names conditions that do not parse, and makes them false', async () => {
    const project = await convert(
      botOf([], { next: next({ 'user.age >': 'entry', '1) } }; evil(': 'entry', 'lastNode=a': 'entry' }) }),
    )
    const [router] = cardsOf(project, 'main', 'entry')
    expect(router!['cases']).toEqual([1, 2, 3].map((index) => ({ port: `case_${index}`, if: { $: 'false' } })))
    expect(project.totals.lost).toBe(3)
    expect(reportOf(project)).toContain('no transition applies: the conversation ends')
  })

  test('names scripts that need Node, a database or unknown members of bp, and keeps their source', async () => {
    const project = await convert({
      ...botOf(['save']),
      'actions/save.js': "const fs = require('fs')\nbp.database('x')\nawait bp.users.getAllUsers()",
      'actions/bad.js': 'if (',
      'hooks/after_bot_mount/start.js': 'bp.logger.info(1)',
      'hooks/before_incoming_middleware/skip.js': 'event.setFlag(bp.IO.WellKnownFlags.SKIP_DIALOG_ENGINE, true)',
    })
    const report = reportOf(project)
    for (const element of [
      "require('fs')",
      'bp.users.getAllUsers',
      'the script does not parse',
      'the hook after_bot_mount',
      'the action save, which cannot run here',
    ]) {
      expect(report).toContain(element)
    }
    expect(project.files.get('actions/save.js')).toContain("// const fs = require('fs')")
    expect(project.files.get('bot.ts')).toContain(
      'beforeIncomingMessage(context) {\n    v12.prepare(context)\n    return v12.runHooks(context, [hook_',
    )
  })

  test('names what has no counterpart: entities, channels, e-mail, node types and media', async () => {
    const project = await convert({
      'bot.config.json': { id: 'bot', oneflow: true, messaging: { channels: { telegram: { enabled: true } } } },
      'entities/city.json': { name: 'city' },
      'media/a.png': 'x',
      'intents/buy.json': { name: 'buy', utterances: { en: ['buy [two](n) pizzas'] }, slots: [{ name: 'n' }] },
      'flows/main.flow.json': flow('entry', [
        node('entry', { type: 'trigger', next: next({ true: 'mail' }) }),
        { ...node('mail'), type: 'skill-call', skill: 'SendEmail', flow: 'skills/mail.flow.json' },
      ]),
      'flows/skills/mail.flow.json': flow('a', [node('a')], { skillData: { toAddress: 'a@example.org' } }),
    })
    for (const element of [
      'an entity',
      'the channel telegram',
      'oneflow',
      'the type of node trigger',
      'the e-mail a@example.org',
      'the files of the bot',
      'the slots of the intent',
    ]) {
      expect(reportOf(project)).toContain(element)
    }
    expect(project.files.get('v12/intents.json')).toContain('buy two pizzas')
  })

  test('many nodes with faults are named in one pass', async () => {
    const nodes = Array.from({ length: 50 }, (_, index) => skill(`n${index}`, 'CallAPI', 'skills/api.flow.json', {}))
    const flows = Array.from({ length: 50 }, (_, index) => [`flows/f${index}.flow.json`, flow('n0', nodes)])
    const began = performance.now()
    const project = await convert({
      ...Object.fromEntries(flows),
      // No variable has such a name.
      'flows/skills/api.flow.json': flow('a', [node('a')], {
        skillData: { randomId: 'a-b', url: 'https://a.example' },
      }),
    })
    expect(project.totals.lost).toBeGreaterThanOrEqual(2500)
    expect(performance.now() - began).toBeLessThan(20_000)
  }, 120_000)

  test('long texts are read in linear time', async () => {
    const target = `${'x.flow.json#'.repeat(500_000)}\nx`
    const began = performance.now()
    const project = await convert({
      ...botOf([], { next: next({ 'user.age > 3': target, true: 'END' }) }),
      'intents/buy.json': { name: 'buy', utterances: { en: ['['.repeat(3_000_000), '[a]('.repeat(1_000_000)] } },
    })
    expect(project.flows).toHaveLength(1)
    expect(performance.now() - began).toBeLessThan(20_000)
  }, 120_000)

  test('texts of the original are no markup in the report', async () => {
    const project = await convert({
      ...botOf(['<script>alert(1)</script>|x']),
      'flows/other.flow.json': flow('none', [node('[a](https://evil.example)\n<script>')]),
    })
    expect(project.files.get('REPORT.md')).not.toContain('](https://evil.example)')
    expect(project.files.get('REPORT.md')).not.toContain('<script>')
    expect(project.files.get('REPORT.md')).toContain('\\|x')
  })
})

/** A node that runs a skill. */
const skill = (name: string, skillName: string, file: string, targets: Record<string, string>) => ({
  ...node(name),
  type: 'skill-call',
  skill: skillName,
  flow: file,
  next: next(targets),
})

describe('the mapping', () => {
  test('translations, variations, templates and media become messages', async () => {
    const project = await convert({
      ...botOf(['say #!builtin_text-many', 'say #!builtin_image-a', 'say #!builtin_card-a']),
      'content-elements/builtin_text.json': [
        text('builtin_text-many', {
          text$en: 'Hi {{{user.name}}} {{temp.a-b.0}}',
          variations$en: ['Hey'],
          text$fr: 'Salut',
        }),
      ],
      'content-elements/builtin_image.json': [
        text('builtin_image-a', { image$en: '/api/v1/bots/BOT_ID_PLACEHOLDER/media/a.png' }),
      ],
      'content-elements/builtin_card.json': [
        text('builtin_card-a', {
          title$en: 'Card',
          actions$en: [{ title: 'Open', action: 'Open URL', url: 'https://example.org' }],
        }),
      ],
    })
    expect(cardsOf(project, 'main', 'entry')).toMatchObject([
      { variants: ['Hi {{ user.name }} {{ temp?.["a-b"]?.["0"] }}', 'Hey'], translations: { fr: 'Salut' } },
      { message: { type: 'image', imageUrl: '{{ env.MEDIA_URL }}/a.png' } },
      { message: { type: 'card', actions: [{ action: 'url', label: 'Open', value: 'https://example.org' }] } },
    ])
  })

  test('CallAPI and Slot become cards, and routes of a flow apply while it waits', async () => {
    const project = await convert({
      'flows/main.flow.json': flow(
        'city',
        [
          skill('city', 'Slot', 'skills/slot.flow.json', { 'temp.extracted == "true"': 'get', true: 'END' }),
          skill('get', 'CallAPI', 'skills/api.flow.json', { 'temp.valid_r1': 'END', '!temp.valid_r1': 'city' }),
          node('help', { onEnter: ['say #!builtin_text-hello'] }),
        ],
        { catchAll: { next: next({ 'event.preview === "help"': 'help' }) } },
      ),
      'flows/skills/slot.flow.json': flow('a', [node('a')], {
        skillData: { slotName: 'city', entities: ['any'], contentElement: 'builtin_text-hello', retryAttempts: 2 },
      }),
      'flows/skills/api.flow.json': flow('a', [node('a')], {
        skillData: {
          randomId: 'r1',
          url: 'https://api.example.org/{{temp.v}}',
          method: 'get',
          memory: 'temp',
          variable: 'out',
        },
      }),
    })
    expect(project.totals.lost).toBe(0)
    expect(cardsOf(project, 'main', 'city__ask')[0]).toMatchObject({ type: 'capture', message: 'Hello', retries: 2 })
    expect(cardsOf(project, 'main', 'get')[0]).toMatchObject({
      type: 'http',
      url: 'https://api.example.org/{{ temp.v }}',
      output: 'temp.out',
    })
    expect(JSON.parse(project.files.get('isobot.json')!)).toMatchObject({ permissions: { net: ['api.example.org'] } })
    for (const [url, net] of [
      ['http://user:word@api.example.org:8080/x', ['api.example.org:8080']],
      ['https://my_host/x', undefined],
      ['https://*/x', undefined],
    ] as const) {
      const { files } = await convert({
        'flows/main.flow.json': flow('get', [skill('get', 'CallAPI', 'skills/api.flow.json', { true: 'END' })]),
        'flows/skills/api.flow.json': flow('a', [node('a')], { skillData: { randomId: 'r', url, method: 'get' } }),
      })
      const settings = JSON.parse(files.get('isobot.json')!) as { permissions?: { net: string[] } }
      expect(settings.permissions?.net).toEqual(net)
    }
    const [route] = project.flows[0]!.always!
    expect(route).toMatchObject({ to: 'help', if: { $: expect.stringContaining('event.preview === "help"') } })
  })
})

describe('scripts', () => {
  test.each([
    ['import()', "temp.a = (await import('../../outside.json')).default"],
    ['import() of a pattern', "const name = 'side'\ntemp.a = (await import('../../out' + name + '.json')).default"],
    ['require with a comment', "temp.a = require /* x */ ('../../outside.json')"],
    ['require of a pattern', "const name = 'side'\ntemp.a = require(`../../out${name}.json`)"],
    ['require of a path through a package', "temp.a = require('v12/../../../outside.json')"],
    [
      'import, after the end of the function',
      "}\nimport a from '../../outside.json'\nexport async function b() {\n  return a",
    ],
  ])('do not have a file of this machine put into the bot, by %s', async (_way, source) => {
    await writeFile(join(exports.folder, 'outside.json'), '{"secret":"of this machine"}')
    const project = await convert({ ...botOf(['read']), 'actions/read.js': source })
    const folder = join(exports.folder, `script-${count}`)
    await writeProjects([project], folder)
    await mkdir(join(folder, 'node_modules', 'v12'), { recursive: true })
    const { code } = await bundleOnce(await openProject(folder))
    expect(code).not.toContain('of this machine')
    expect(reportOf(project)).toContain('the action read, which cannot run here')
  })

  test('with names that differ by a sign or by letter case have files of their own', async () => {
    const names = ['get-user', 'get_user', 'Get_User', 'lib/x', 'lib_x']
    const actions = Object.fromEntries(names.map((name) => [`actions/${name}.js`, `temp.a = '${name}'`]))
    const hooks = ['a-b', 'a_b'].map((name) => [`hooks/before_incoming_middleware/${name}.js`, 'event.x = 1'])
    const project = await convert({ ...botOf(names), ...actions, ...Object.fromEntries(hooks) })
    const scripts = [...project.files.keys()].filter((path) => /^(?:actions|hooks)\//.test(path))
    expect(new Set(scripts.map((path) => path.toLowerCase())).size).toBe(7)
    const folder = join(exports.folder, `script-${count}`)
    await writeProjects([project], folder)
    const { code } = await bundleOnce(await openProject(folder))
    for (const name of names) expect(code).toContain(`'${name}'`.replaceAll("'", '"'))
  })

  test('require packages of browsers, and not what a comment or a text names', async () => {
    const source =
      "// const fs = require('fs')\nconst get = require('lodash/get')\ntemp.a = get({}, \"require('net')\")"
    const project = await convert({ ...botOf(['read']), 'actions/read.js': source })
    expect(project.totals.lost).toBe(0)
    expect(project.files.get('actions/read.js')).toContain('import * as package_0 from "lodash/get"')
    expect(JSON.parse(project.files.get('package.json')!)).toMatchObject({ dependencies: { lodash: '*' } })
  })
})

/** An archive with one entry, as no program would write it. */
async function archiveOf(path: string, content: string, type: 'File' | 'SymbolicLink' = 'File'): Promise<string> {
  count += 1
  const header = new Header({
    path,
    type,
    size: content.length,
    mode: 0o644,
    mtime: new Date(0),
    ...(type === 'SymbolicLink' && { ...(type === 'SymbolicLink' && { linkpath: '/etc/passwd' }) }),
  })
  const block = Buffer.alloc(512)
  header.encode(block)
  const padded = Buffer.alloc(Math.ceil(content.length / 512) * 512)
  padded.write(content)
  const main = JSON.stringify(flow('entry', [node('entry')]))
  const second = Buffer.alloc(512)
  new Header({
    path: 'flows/main.flow.json',
    type: 'File',
    size: main.length,
    mode: 0o644,
    mtime: new Date(0),
  }).encode(second)
  const body = Buffer.alloc(Math.ceil(main.length / 512) * 512)
  body.write(main)
  const file = join(exports.folder, `hostile-${count}.tgz`)
  const parts = type === 'File' ? [block, padded] : [block]
  await writeFile(file, gzipSync(Buffer.concat([...parts, second, body, Buffer.alloc(1024)])))
  return file
}

describe('hostile archives', () => {
  test.each(['../../evil.json', '/etc/evil.json', 'actions/../../evil.js'])('the path %s is not read', async (path) => {
    const [project] = await convertExport(await archiveOf(path, '{}'))
    expect([...project!.files.keys()].join(' ')).not.toContain('evil')
    expect(reportOf(project!)).toContain('its path leaves the archive')
  })

  test('links are not followed', async () => {
    const [project] = await convertExport(await archiveOf('actions/link.js', '', 'SymbolicLink'))
    expect(project!.files.has('actions/link.js')).toBe(false)
    const folder = await exports.write('linked', {
      'flows/main.flow.json': flow('entry', [node('entry')]),
      'secret.txt': 'x',
    })
    await exports.write('linked', { 'actions/a.js': '' })
    await symlink('/etc/hostname', join(folder, 'actions/link.js'))
    const [linked] = await convertExport(folder)
    expect(linked!.files.has('actions/link.js')).toBe(false)
    expect(reportOf(linked!)).toContain('it is a link')
  })

  test('an archive that grows beyond bounds, and one that is none, are refused', async () => {
    const bomb = join(exports.folder, 'bomb.tgz')
    const packed = gzipSync(Buffer.alloc(260 * 1024 * 1024), { level: 1 })
    await writeFile(bomb, packed)
    await expect(convertExport(bomb)).rejects.toThrow('has more than 256 MB')
    for (const again of [gzipSync(packed), zstdCompressSync(packed)]) {
      await writeFile(bomb, again)
      await expect(convertExport(bomb)).rejects.toThrow('is compressed twice, or not by gzip')
    }
    const other = join(exports.folder, 'other.tgz')
    await writeFile(other, 'no archive')
    await expect(convertExport(other)).rejects.toThrow(/is no (?:valid )?archive|has no bot/)
  })
})
