import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createMember } from '../support/members.ts'
import type { DeployedBot, Platform } from '../support/platform.ts'
import { installing, openConsole, patience, signIn } from './open-console.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let page: Page
let bot: DeployedBot
let complaints: string[]
beforeAll(async () => {
  ;({ platform, page, complaints } = await openConsole(parts, /status of 400/))
  await signIn(page, platform)
}, installing)
beforeEach(async () => {
  bot = await platform.createBot()
})
afterAll(() => parts.disposeAsync())

const button = (name: string) => page.getByRole('button', { name, exact: true })
const dialog = (name: string) => page.getByRole('dialog', { name })
const cells = (row: number) => page.getByRole('row', { name: `Row ${row}` }).getByRole('cell')
const columnHeader = (name: string) => page.getByRole('columnheader', { name })
const panel = () => page.getByRole('complementary', { name: 'Row' })
const field = (name: string) => panel().getByLabel(name, { exact: true })
/** The ids of the rows in the grid, from top to bottom. */
const ids = () => page.getByRole('rowheader').allTextContents()
const openTables = () => page.goto(`${platform.url}/console/bots/${bot.id}/tables`)
const ask = (method: string, path: string, body?: object) =>
  platform.ask(method, `/v1/tables${path}`, body, { 'x-bot-id': bot.id })

interface NewTable {
  columns: Record<string, object>
  rows?: object[]
  factor?: number
}

/** Creates a table with rows over HTTP, and opens its page. */
async function openTable(name: string, { columns, rows = [], factor = 1 }: NewTable): Promise<string> {
  const schema = { type: 'object', properties: columns }
  const { body } = await ask('POST', '', { name, schema, factor })
  if (rows.length > 0) await ask('POST', `/${name}/rows`, { rows })
  await page.goto(`${platform.url}/console/bots/${bot.id}/tables/${body.table.id}`)
  await page.getByRole('heading', { name }).waitFor()
  return body.table.id
}

test('a table is created, gets columns of several types, is renamed, duplicated and deleted', async () => {
  await openTables()
  await page.getByRole('heading', { name: 'No table yet' }).waitFor()
  await button('New table').click()
  await dialog('New table').getByLabel('Name').fill('orders')
  await dialog('New table').getByRole('button', { name: 'Create' }).click()
  await dialog('New table').getByRole('alert').waitFor()
  await dialog('New table').getByLabel('Name').fill('ordersTable')
  await dialog('New table').getByRole('button', { name: 'Create' }).click()

  await page.getByRole('heading', { name: 'No column yet' }).waitFor()
  for (const [name, type] of [
    ['number', 'text'],
    ['total', 'number'],
    ['paid', 'true or false'],
  ] as const) {
    await button('Add a column').click()
    await dialog('Add a column').getByLabel('Name').fill(name)
    await dialog('Add a column').getByLabel('Type').selectOption(type)
    await dialog('Add a column').getByRole('button', { name: 'Add' }).click()
    await page.getByRole('list', { name: 'Columns' }).getByText(name, { exact: true }).first().waitFor()
  }
  await button('Add a column').click()
  await dialog('Add a column').getByLabel('Name').fill('total')
  await dialog('Add a column').getByRole('button', { name: 'Add' }).click()
  await page.getByText('The table has a column “total” already').waitFor()
  await dialog('Add a column').getByRole('button', { name: 'Cancel' }).click()

  await button('Rename number').click()
  await dialog('Rename the column').getByLabel('Name').fill('reference')
  await dialog('Rename the column').getByRole('button', { name: 'Rename' }).click()
  await button('Remove paid').click()
  await dialog('Remove the column').getByRole('button', { name: 'Remove' }).click()
  await expect
    .poll(async () => Object.keys((await ask('GET', '/ordersTable')).body.table.schema.properties), patience)
    .toEqual(['reference', 'total'])

  await button('Rename').click()
  await dialog('Rename the table').getByLabel('Name').fill('salesTable')
  await dialog('Rename the table').getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { name: 'salesTable' }).waitFor()
  await button('Duplicate').click()
  await dialog('Duplicate the table').getByLabel('Name of the copy').fill('copyTable')
  await dialog('Duplicate the table').getByRole('button', { name: 'Duplicate' }).click()
  await page.getByRole('heading', { name: 'copyTable' }).waitFor()
  await button('Delete').click()
  await dialog('Delete the table').getByRole('button', { name: 'Delete' }).click()
  const list = page.getByRole('list', { name: 'Tables, oldest first' }).getByRole('listitem')
  await expect.poll(() => list.allTextContents(), patience).toEqual([expect.stringContaining('salesTable')])
  await list.getByText('0 rows').waitFor()
  expect(complaints).toEqual([])
})

test('rows are added, opened by keyboard, changed where they differ, and deleted', async () => {
  const columns = { name: { type: 'string' }, age: { type: 'number' }, since: { type: 'string', format: 'date-time' } }
  const id = await openTable('peopleTable', { columns: { ...columns, tags: { type: 'array' } } })
  await button('Add a row').click()
  await field('name').fill('Ada')
  await field('age').fill('old')
  await panel().getByRole('button', { name: 'Add' }).click()
  await panel().getByText('“age” must be a number').waitFor()
  await field('age').fill('36')
  await field('since').fill('yesterday')
  await panel().getByRole('button', { name: 'Add' }).click()
  await panel().getByText('must be a time').waitFor()
  await field('since').fill('2026-11-22T11:00:00+01:00')
  await field('tags').fill('["first"]')
  await panel().getByRole('button', { name: 'Add' }).click()
  await panel().getByRole('heading', { name: 'Row 1' }).waitFor()
  const { body } = await ask('GET', `/${id}/row?id=1`)
  expect(body.row).toMatchObject({ name: 'Ada', age: 36, since: '2026-11-22T10:00:00.000Z', tags: ['first'] })

  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Row 1' }).focus()
  await page.keyboard.press('Enter')
  await field('name').fill('Ada Lovelace')
  // Meanwhile another one changes another column.
  await ask('PUT', `/${id}/rows`, { rows: [{ id: 1, age: 37 }] })
  await panel().getByRole('button', { name: 'Save' }).click()
  await page.getByText('Row 1 is saved.').waitFor()
  expect((await ask('GET', `/${id}/row?id=1`)).body.row).toMatchObject({ name: 'Ada Lovelace', age: 37 })

  await page.getByRole('cell', { name: 'Ada Lovelace' }).click()
  await panel().locator('[aria-label="name"]:focus').waitFor()
  await button('No value for name').click()
  await panel().getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await ask('GET', `/${id}/row?id=1`)).body.row.name, patience).toBeNull()

  await ask('POST', `/${id}/rows`, { rows: [{ name: 'Ben' }, { name: 'Cleo' }] })
  await page.reload()
  await page.getByLabel('Select row 1').check()
  await page.getByLabel('Select row 3').check()
  await button('Delete 2 rows').click()
  await dialog('Delete 2 rows').getByRole('button', { name: 'Delete' }).click()
  await expect.poll(ids, patience).toEqual(['2'])
  expect(complaints).toEqual([])
})

test('rows are found by conditions, by a filter in JSON and by a search, and ordered by a column', async () => {
  const names = ['apple (red)', 'Banana', 'cherry', 'date']
  const rows = Array.from({ length: 60 }, (_, index) => ({
    name: names[index] ?? `fruit ${index}`,
    price: index,
    ...(index % 2 === 0 && { labels: ['even', index] }),
  }))
  const columns = {
    name: { type: 'string', 'x-zui': { searchable: true } },
    price: { type: 'number' },
    labels: { type: 'array' },
  }
  await openTable('fruitTable', { columns, rows })
  const add = async (column: string, condition: string, value?: string) => {
    await page.getByLabel('Column', { exact: true }).selectOption(column)
    await page.getByLabel('Condition').selectOption(condition)
    if (value !== undefined) await page.getByLabel('Value').fill(value)
    await button('Add filter').click()
  }
  await page.getByText('Rows 1 to 50 of 60').waitFor()
  await button('Next').click()
  await expect.poll(ids, patience).toHaveLength(10)

  await add('name', 'contains', 'APPLE (')
  await expect.poll(ids, patience).toEqual(['1'])
  await page.getByTitle('Remove this condition').click()
  await add('price', 'is at least', '10')
  await add('price', 'is less than', '14')
  await add('labels', 'contains', '"even"')
  await expect.poll(ids, patience).toEqual(['11', '13'])
  await button('Order by price').or(page.getByTitle('Order by price')).click()
  expect(await columnHeader('price').getAttribute('aria-sort')).toBe('ascending')
  await page.getByTitle('Order by price').click()
  await expect.poll(ids, patience).toEqual(['13', '11'])
  expect(await columnHeader('price').getAttribute('aria-sort')).toBe('descending')
  await add('labels', 'has no value')
  await page.getByRole('heading', { name: 'No row matches' }).waitFor()

  await page.getByText('Filter as JSON').click()
  await page.getByLabel('Filter as JSON').fill('{ "price": ')
  await button('Apply').click()
  await page.getByText('The filter is no JSON').waitFor()
  await page.getByLabel('Filter as JSON').fill('{ "name": { "$regex": "^[cd]" } }')
  await button('Apply').click()
  await expect.poll(ids, patience).toEqual(['4', '3'])
  await page.getByLabel('Filter as JSON').fill('{ "colour": "red" }')
  await button('Apply').click()
  await page.getByText("The table has no column 'colour'").waitFor()
  await page.getByLabel('Filter as JSON').fill('')
  await button('Apply').click()
  await page.getByLabel('Search rows').fill('chery')
  await expect.poll(async () => (await ids())[0], patience).toBe('3')
  await columnHeader('nearness').waitFor()
})

test('names and values with markup are text, and a large value is cut in the grid and whole in its field', async () => {
  const markup = '<img src=x onerror="document.title=1">'
  const long = '<b>'.repeat(35_000)
  const columns = { '<i>n</i> & "q"': { type: 'string' }, constructor: { type: 'object' }, 'a.b': {} }
  const rows: object[] = [
    { '<i>n</i> & "q"': markup, constructor: JSON.parse('{"__proto__": {"a": "<u>"}}') as object, 'a.b': 1 },
    { '<i>n</i> & "q"': long },
  ]
  await openTable('strangeTable', { columns, rows, factor: 30 })
  await expect.poll(() => cells(1).allTextContents(), patience).toContain(markup)
  expect(await cells(1).allTextContents()).toContain('{"__proto__":{"a":"<u>"}}')
  expect((await cells(2).allTextContents()).join('').length).toBeLessThan(300)
  expect(await page.locator('.tables :is(i, img, b, u)').count()).toBe(0)
  await page.getByRole('link', { name: 'Row 2' }).click()
  await expect.poll(() => field('<i>n</i> & "q"').inputValue(), patience).toBe(long)
  await page.getByRole('link', { name: 'Row 1' }).click()
  await field('constructor').fill('{"__proto__": 2}')
  await panel().getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => cells(1).allTextContents(), patience).toContain('{"__proto__":2}')
  await button('Add a column').click()
  await dialog('Add a column').getByLabel('Name').fill('__proto__')
  await dialog('Add a column').getByRole('button', { name: 'Add' }).click()
  await page.getByText("A column cannot be named '__proto__'").waitFor()
  expect(complaints).toEqual([])
})

test('a file is imported with the records that fail, and the rows are exported to a file that is downloaded', async () => {
  await openTable('importedTable', { columns: { number: { type: 'string' }, total: { type: 'number' } } })
  const buffer = Buffer.from('number,total\n"=A ""1""",12.5\nA-2,many\nA-3,3\n')
  await page.getByLabel('File to import').setInputFiles({ name: 'orders.csv', mimeType: 'text/csv', buffer })
  const jobs = page.getByRole('list', { name: 'Imports and exports, newest first' }).getByRole('listitem')
  await jobs.getByText('completed').waitFor()
  await jobs.getByText('1 record not stored').click()
  await jobs.getByText('total must be number').waitFor()
  await expect.poll(ids, patience).toHaveLength(2)
  expect(await cells(1).allTextContents()).toContain('=A "1"')
  expect(await platform.context.db('files').where('key', 'like', 'imports/importedTable/%').first()).toMatchObject({
    expires_at: expect.any(Date) as Date,
  })

  await page.getByLabel('Format of the export').selectOption('JSON')
  await button('Export').click()
  const download = page.waitForEvent('download')
  await jobs.getByRole('button', { name: 'Download' }).click()
  const file = await download
  expect(file.suggestedFilename()).toBe('importedTable.json')
  const { rows } = JSON.parse(await readFile(await file.path(), 'utf8')) as { rows: object[] }
  expect(rows).toMatchObject([
    { number: '=A "1"', total: 12.5 },
    { number: 'A-3', total: 3 },
  ])
})

test('the rows of an import are shown also where it has ended before its progress is known', async () => {
  const id = await openTable('quickTable', { columns: { name: { type: 'string' } } })
  await page.getByRole('heading', { name: 'No row yet' }).waitFor()
  // A page that is hidden does not load its data again by itself.
  await page.evaluate(`Object.defineProperty(document, 'hidden', { value: true })`)
  await page.route('**/import', async (route) => {
    const response = await route.fetch()
    await expect.poll(async () => (await ask('GET', `/${id}/jobs`)).body.jobs[0].status, patience).toBe('completed')
    await route.fulfill({ response })
  })
  const buffer = Buffer.from('name\nAda\n')
  await page.getByLabel('File to import').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer })
  await page.getByRole('cell', { name: 'Ada' }).waitFor()
  await page.unroute('**/import')
})

test('a wide table scrolls within its own area on a phone', async () => {
  const columns = Object.fromEntries(Array.from({ length: 18 }, (_, index) => [`column ${index}`, { type: 'string' }]))
  const row = Object.fromEntries(Object.keys(columns).map((name) => [name, `a value of ${name}`]))
  await openTable('wideTable', { columns, rows: [row, row] })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('cell', { name: 'a value of column 17' }).first().waitFor()
  const [own, whole] = await page.evaluate<[number, number]>(
    `(() => { const { scrollWidth, clientWidth } = document.querySelector('.row-grid'); return [scrollWidth - clientWidth, document.documentElement.scrollWidth] })()`,
  )
  expect(own).toBeGreaterThan(100)
  expect(whole).toBe(390)
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('a viewer reads that tables are for developers', async () => {
  const { authorization } = await createMember(platform, 'viewer', platform.workspaceId)
  const context = await page.context().browser()!.newContext()
  const view = await context.newPage()
  await signIn(view, platform, authorization.replace('Bearer ', ''))
  await view.goto(`${platform.url}/console/bots/${bot.id}/tables`)
  await view.getByRole('heading', { name: 'Tables are for developers' }).waitFor()
  expect(await view.getByRole('button', { name: 'New table' }).count()).toBe(0)
  await context.close()
})
