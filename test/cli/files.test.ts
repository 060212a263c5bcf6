import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openContent, sendContent } from '../../cli/files/content.ts'
import { openPlatform, type DeployedBot, type Platform } from '../support/platform.ts'
import { openCommandLine, type CommandLine } from './command-line.ts'
import { openProxy, page } from './proxy.ts'

interface Shown {
  file: { id: string; key: string; status: string; size: number; contentType: string; tags: object; url: string }
}

let platform: Platform
let isobot: CommandLine
let bot: DeployedBot
beforeAll(async () => {
  platform = await openPlatform()
  isobot = await openCommandLine(platform)
  bot = await platform.createBot()
})
afterAll(async () => {
  await isobot?.[Symbol.asyncDispose]()
  await platform?.[Symbol.asyncDispose]()
})

describe('files', () => {
  it('are uploaded, listed by tags, downloaded as they were, and deleted after a confirmation', async () => {
    const bytes = randomBytes(3_000_000)
    await writeFile(join(isobot.folder, 'picture.png'), bytes)
    const upload = ['files', 'upload', bot.id, 'picture.png', '--key', 'art/a b.png', '--tag', 'kind=art=old']
    const { file } = await isobot.json<Shown>(...upload)
    expect(file).toMatchObject({
      key: 'art/a b.png',
      status: 'upload_completed',
      size: bytes.length,
      contentType: 'image/png',
      tags: { kind: 'art=old' },
    })
    expect((await isobot.json<{ files: unknown[] }>('files', 'list', bot.id, '--tag', 'kind=new')).files).toEqual([])
    const listed = await isobot.run(['files', 'list', bot.id, '--tag', 'kind=art=old'])
    expect(listed.stdout).toMatch(new RegExp(`^KEY +ID .*\nart/a b.png +${file.id} +2930 KB +upload_completed`))

    const down = await isobot.run(['files', 'download', bot.id, 'art/a b.png'])
    expect(down).toMatchObject({ code: 0, stdout: 'Downloaded art/a b.png to a b.png, 2930 KB\n' })
    expect((await readFile(join(isobot.folder, 'a b.png'))).equals(bytes)).toBe(true)
    expect((await readdir(isobot.folder)).filter((name) => name.endsWith('.part'))).toEqual([])

    const unasked = await isobot.run(['files', 'delete', bot.id, file.id])
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('confirm with --yes') })
    expect(await isobot.json('files', 'delete', bot.id, 'art/a b.png', '--yes')).toEqual({
      deleted: { id: file.id, key: 'art/a b.png' },
    })
    const gone = await isobot.run(['files', 'download', bot.id, file.id])
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('not found') })
  })

  it('come from standard input and go to standard output, byte for byte', async () => {
    const input = 'Zoë €\n'.repeat(100_000)
    const uploaded = await isobot.run(['files', 'upload', bot.id, '-', '--key', 'piped.txt'], { input })
    expect(uploaded.code).toBe(0)
    const down = await isobot.run(['files', 'download', bot.id, 'piped.txt', '-'])
    expect(down.code).toBe(0)
    expect(down.stdout === input).toBe(true)
    const nameless = await isobot.run(['files', 'upload', bot.id, '-'], { input })
    expect(nameless).toMatchObject({ code: 2, stderr: expect.stringContaining('--key') })
    expect((await isobot.run(['files', 'upload', bot.id, 'missing.txt'])).stderr).toContain(
      'missing.txt cannot be read',
    )
  })

  it('that a proxy before the platform refuses name the setting of the proxy', async () => {
    await using proxy = await openProxy(platform.url, () => ({
      status: 413,
      body: page('413 Request Entity Too Large'),
    }))
    await writeFile(join(isobot.folder, 'large.txt'), 'large')
    await using content = await openContent(join(isobot.folder, 'large.txt'), undefined)
    await expect(sendContent(`${proxy.url}/files/upload/u.1`, 'text/plain', content)).rejects.toThrow(
      `A proxy before ${proxy.url} refuses a request of this size (413 Request Entity Too Large): raise its limit, ` +
        'as client_max_body_size of nginx, to that of the largest file',
    )
  })

  it('are found by searches when the upload with --index has ended, and one that cannot be indexed is a failure', async () => {
    const text =
      '# Hours\n\nThe shop is open on weekdays, 9 to 5.\n\n# Returns\n\nWe take back everything for 30 days.\n'
    await writeFile(join(isobot.folder, 'shop.md'), text)
    const { file } = await isobot.json<Shown>('files', 'upload', bot.id, 'shop.md', '--index', '--tag', 'topic=shop')
    expect(file.status).toBe('indexing_completed')
    const found = await isobot.run(['files', 'search', bot.id, 'When', 'is', 'the', 'shop', 'open?', '-n', '1'])
    expect(found.stdout).toMatch(/^[01]\.\d\d {2}shop\.md\n.*Hours.*\n+.*9 to 5/s)
    const elsewhere = await isobot.run(['files', 'search', bot.id, 'open', '--tag', 'topic=other'])
    expect(elsewhere.stdout).toBe('Nothing was found\n')
    await writeFile(join(isobot.folder, 'a.zip'), 'PK')
    const refused = await isobot.run(['files', 'upload', bot.id, 'a.zip', '--index'])
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringMatching(/indexing_failed, .*cannot be indexed/) })
  })

  it('with the errors of the platform end with 1, of the command line with 2', async () => {
    const [tag, unknown] = await Promise.all([
      isobot.run(['files', 'list', bot.id, '--tag', 'red']),
      isobot.run(['files', 'download', bot.id, 'none', '--json']),
    ])
    expect(tag).toMatchObject({ code: 2, stderr: expect.stringContaining('--tag takes name=value, not "red"') })
    expect(unknown).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(unknown.stderr)).toMatchObject({ error: { type: 'ResourceNotFound' } })
  })
})

describe('tables', () => {
  it('are created from a schema, shown, queried and deleted after a confirmation', async () => {
    const schema = { number: { type: 'string' }, total: { type: 'number' }, notes: { type: 'object' } }
    await writeFile(join(isobot.folder, 'orders.json'), JSON.stringify(schema))
    const create = ['tables', 'create', bot.id, 'ordersTable', 'orders.json', '--key-column', 'number', '--factor', '2']
    const { table } = await isobot.json<{ table: { id: string } }>(...create)
    expect(table).toMatchObject({ name: 'ordersTable', keyColumn: 'number', factor: 2 })
    const rows = [1, 2, 3].map((n) => ({ number: `A-${n}`, total: n * 10, notes: { text: 'x'.repeat(50) } }))
    const as = { 'x-bot-id': bot.id }
    await platform.ask('POST', '/v1/tables/ordersTable/rows', { rows: [...rows, { number: 'B' }] }, as)

    const list = await isobot.run(['tables', 'list', bot.id])
    expect(list.stdout).toMatch(new RegExp(`^NAME .*\nordersTable +${table.id} +3 +number`))
    const shown = await isobot.run(['tables', 'show', bot.id, 'ordersTable'])
    expect(shown.stdout).toMatch(
      /4 rows, key column number, factor 2, created .*\n\nCOLUMN.*\nnumber +string\ntotal +number/,
    )

    const request = ['rows', bot.id, 'ordersTable', '--filter', '{"total":{"$gte":20}}', '--order', 'total', '--desc']
    const found = await isobot.json<{ rows: { number: string }[] }>('tables', ...request)
    expect(found.rows.map(({ number }) => number)).toEqual(['A-3', 'A-2'])
    const page = await isobot.run(['tables', ...request, '-n', '1'])
    expect(page.stdout).toMatch(/^id +number +total +notes\n3 +A-3 +30 +\{"text":"x+…\n\n.*--offset 1\n$/)
    const groups = ['tables', 'rows', bot.id, table.id, '--group', '{"total":["sum","max"]}']
    expect((await isobot.run(groups)).stdout).toBe('totalMax  totalSum\n30        60\n')
    expect((await isobot.run(['tables', 'rows', bot.id, table.id, '--select', 'total'])).stdout).toMatch(/^id +total\n/)

    expect(await isobot.run(['tables', 'delete', bot.id, 'ordersTable'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('with 4 rows? Without a terminal, confirm with --yes'),
    })
    await isobot.json('tables', 'delete', bot.id, 'ordersTable', '--yes')
    const gone = await isobot.run(['tables', 'show', bot.id, 'ordersTable'])
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('not found') })
  })

  it('are imported from files and standard input, and exported to them, and leave no files with the bot', async () => {
    const table = 'movedTable'
    const create = {
      name: table,
      schema: { number: { type: 'string' }, total: { type: 'number' } },
      keyColumn: 'number',
    }
    await platform.ask('POST', '/v1/tables', create, { 'x-bot-id': bot.id })
    const path = join(isobot.folder, 'moved.csv')
    await writeFile(path, `number,total\n${Array.from({ length: 1500 }, (_, n) => `A-${n},${n}\n`).join('')}`)
    const first = await isobot.json<{ job: object; rows: number }>('tables', 'import', bot.id, table, 'moved.csv')
    expect(first).toMatchObject({ job: { status: 'completed', progress: 100 }, rows: 1500 })
    const input = gzipSync('[{"number":"A-0","total":7},{"number":"B","total":"x"},{"number":"C","more":1}]')
    const second = await isobot.run(['tables', 'import', bot.id, table, '-'], { input })
    expect(second).toMatchObject({ code: 1, stdout: expect.stringContaining('which has 1501 rows') })
    expect(second.stdout).toContain('records.2.total must be number')
    expect(second.stdout).toContain("no column 'more'")

    const exported = await isobot.run(['tables', 'export', bot.id, table, 'all.json.gz'])
    expect(exported).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Exported movedTable to all.json.gz, /) })
    const { rows } = JSON.parse(gunzipSync(await readFile(join(isobot.folder, 'all.json.gz'))).toString())
    expect(rows).toHaveLength(1501)
    expect(rows[0]).toMatchObject({ id: 1, number: 'A-0', total: 7 })
    const piped = await isobot.run(['tables', 'export', bot.id, table, '-'])
    expect(piped).toMatchObject({ code: 0, stdout: expect.stringMatching(/^id,number,total,.*\r\n1,A-0,7,/) })
    expect(piped.stdout.trimEnd().split('\r\n')).toHaveLength(1502)
    const left = await isobot.json<{ files: { key: string }[] }>('files', 'list', bot.id)
    expect(left.files.filter(({ key }) => /^(?:imports|exports)\//.test(key))).toEqual([])
  })

  it('are imported while a proxy before the platform fails, and keep the file while the import may read it', async () => {
    const table = 'proxiedTable'
    await platform.ask('POST', '/v1/tables', { name: table, schema: { a: 'x' } }, { 'x-bot-id': bot.id })
    let refused = 0
    let mode: 'passing' | 'forgetting' = 'passing'
    await using proxy = await openProxy(platform.url, ({ url, method }) => {
      if (mode === 'forgetting' && method === 'POST' && url!.endsWith('/import'))
        return { status: 502, body: page('Bad Gateway') }
      const isPoll = mode === 'passing' && url!.endsWith('/jobs') && refused++ < 2
      return isPoll ? { status: 502, body: page('Bad Gateway') } : undefined
    })
    const importing = () =>
      isobot.run(['tables', 'import', bot.id, table, '-'], {
        input: `a\n${'x\n'.repeat(20)}`,
        environment: { ISOBOT_URL: proxy.url },
      })
    expect(await importing()).toMatchObject({ code: 0, stdout: expect.stringContaining('which has 20 rows') })
    const filesOf = async () =>
      (await isobot.json<{ files: { key: string }[] }>('files', 'list', bot.id)).files.filter(({ key }) =>
        key.startsWith(`imports/${table}/`),
      )
    expect(refused).toBeGreaterThan(2)
    expect(await filesOf()).toEqual([])
    mode = 'forgetting'
    expect(await importing()).toMatchObject({ code: 3, stderr: expect.stringContaining('502 Bad Gateway') })
    expect(await filesOf()).toHaveLength(1)
  })

  it('of which an import fails, has not ended in time, or is misspelt, end with the exit code for it', async () => {
    const table = 'failedTable'
    await platform.ask('POST', '/v1/tables', { name: table, schema: { a: 'x' } }, { 'x-bot-id': bot.id })
    const [broken, late, format] = [
      await isobot.run(['tables', 'import', bot.id, table, '-'], { input: '[{"a":' }),
      await isobot.run(['tables', 'import', bot.id, table, '-', '--wait', '0s', '--json'], {
        input: `a\n${'x\n'.repeat(5000)}`,
      }),
      await isobot.run(['tables', 'export', bot.id, table, '--format', 'xml']),
    ]
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('The JSON ends within a value') })
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('has not ended yet') })
    const rows = async () =>
      (await platform.ask('GET', `/v1/tables/${table}`, undefined, { 'x-bot-id': bot.id })).body.rows
    await expect.poll(rows, { timeout: 60_000, interval: 200 }).toBe(5000)
    expect(format).toMatchObject({ code: 2, stderr: expect.stringContaining('csv or json') })
  })

  it('with filters that are no JSON, or that the platform refuses, name the fault', async () => {
    const [filter, schema] = await Promise.all([
      isobot.run(['tables', 'rows', bot.id, 'anyTable', '--filter', '{total: 1}']),
      isobot.run(['tables', 'create', bot.id, 'anyTable', '-'], { input: '[1]' }),
    ])
    expect(filter).toMatchObject({ code: 2, stderr: expect.stringContaining('--filter is not JSON') })
    expect(schema).toMatchObject({ code: 2, stderr: expect.stringContaining('must be an object in JSON') })
  })
})
