import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#shared/ids.ts'
import { openPlatform, type Platform } from '../../../support/platform.ts'
import { clientNames, installIntegration, openClients, type BotWithClients, type Call } from '../runtime/clients.ts'

let platform: Platform
let own: BotWithClients
let foreign: BotWithClients
beforeAll(async () => {
  platform = await openPlatform()
  own = await openClients(platform)
  foreign = await openClients(platform)
})
afterAll(() => platform[Symbol.asyncDispose]())

const nameOf = (stem: string) => `${stem}${newId('check').slice(-10)}Table`
const schema = { type: 'object', properties: { age: { type: 'number' }, email: { type: 'string' } } }

describe.each(clientNames)('through %s', (clientName) => {
  const call: Call = (...given) => own.clients[clientName](...given)
  const refused = (operation: string, input: object) =>
    call(operation, input).then(
      () => undefined,
      (error: unknown) => error,
    )

  test('a table is created, found by id and by name, listed by tags, and deleted with its rows', async () => {
    const name = nameOf('orders')
    const given = { name, schema, tags: { team: name }, factor: 2, keyColumn: 'email', isComputeEnabled: false }
    const { table } = await call('createTable', given)
    expect(table).toEqual({
      id: expect.stringMatching(/^table_[0-9A-Z]{26}$/),
      name,
      factor: 2,
      frozen: false,
      keyColumn: 'email',
      tags: { team: name },
      isComputeEnabled: false,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      schema: {
        type: 'object',
        additionalProperties: true,
        properties: {
          age: { type: 'number', nullable: true, 'x-zui': { index: 0 } },
          email: { type: 'string', nullable: true, 'x-zui': { index: 1 } },
        },
      },
    })
    await call('createTableRows', { table: name, rows: [{ email: 'a' }, { email: 'b' }] })
    const counted = { table: expect.objectContaining({ id: table.id }), rows: 2, stale: 0, indexing: 0 }
    expect(await call('getTable', { table: table.id })).toEqual(counted)
    expect(await call('getTable', { table: name })).toEqual(counted)
    expect((await call('listTables', { tags: { team: name } })).tables.map(({ id }: { id: string }) => id)).toEqual([
      table.id,
    ])
    expect((await call('listTables', { tags: { team: 'none' } })).tables).toEqual([])
    expect(await call('deleteTable', { table: name })).toEqual({})
    expect(await refused('getTable', { table: name })).toMatchObject({
      code: 404,
      message: expect.stringContaining('not found'),
    })
    expect(await platform.context.db('table_rows').where({ table_id: table.id })).toEqual([])
  })

  test('getOrCreateTable leaves a table that exists as it is', async () => {
    const name = nameOf('once')
    const first = await call('getOrCreateTable', { table: name, schema, frozen: true, factor: 30 })
    expect(first).toMatchObject({ created: true, rows: 0, table: { name, frozen: true, factor: 30 } })
    const second = await call('getOrCreateTable', { table: name, schema: { other: 'x' } })
    expect(second).toEqual({ ...first, created: false })
  })

  test('updateTable adds, changes and removes the columns that it names, and leaves the others', async () => {
    const { table } = await call('createTable', { name: nameOf('patch'), schema: { a: 'x', b: 1, c: true } })
    await call('createTableRows', { table: table.id, rows: [{ a: 'kept', b: 7, c: true }] })
    const patch = { b: { type: 'string' }, c: null, d: { type: 'number', 'x-zui': { searchable: true } } }
    const changed = await call('updateTable', { table: table.id, schema: patch, tags: { x: 'y' }, factor: 3 })
    expect(changed.table).toMatchObject({ factor: 3, tags: { x: 'y' }, frozen: false })
    expect(changed.table.schema.properties).toEqual({
      a: { type: 'string', nullable: true, 'x-zui': { index: 0 } },
      b: { type: 'string', nullable: true, 'x-zui': { index: 1 } },
      d: { type: 'number', nullable: true, 'x-zui': { index: 2, searchable: true } },
    })
    // A column whose type changed has lost its values, and so has a removed one that comes back.
    await call('updateTable', { table: table.id, schema: { c: { type: 'boolean' } }, tags: { x: null } })
    const { row } = await call('getTableRow', { table: table.id, id: 1 })
    expect(row).toMatchObject({ a: 'kept', b: null, c: null, d: null })
    expect((await call('getTable', { table: table.id })).table.tags).toEqual({})
  })

  test('a renamed column keeps its values and attributes, and frees its name', async () => {
    const { table } = await call('createTable', {
      name: nameOf('rename'),
      schema: { type: 'object', properties: { a: { type: 'string', pattern: '^k' } }, required: ['a'] },
      keyColumn: 'a',
    })
    await call('createTableRows', { table: table.id, rows: [{ a: 'kept' }] })
    const renamed = await call('renameTableColumn', { table: table.id, name: 'a', newName: 'z z' })
    expect(renamed.table).toMatchObject({ keyColumn: 'z z', schema: { required: ['z z'] } })
    expect(renamed.table.schema.properties).toEqual({
      'z z': { type: 'string', pattern: '^k', nullable: true, 'x-zui': { index: 0 } },
    })
    await call('updateTable', { table: table.id, schema: { a: { type: 'string' } } })
    expect((await call('getTableRow', { table: table.id, id: 1 })).row).toMatchObject({ 'z z': 'kept', a: null })
    const again = { rows: [{ 'z z': 'kept' }], table: table.id }
    expect((await call('createTableRows', again)).errors).toEqual(['rows.0.z z has the key of another row'])
  })

  test('a frozen table takes rows, is deleted and duplicated, and keeps its name and columns', async () => {
    const { table } = await call('createTable', { name: nameOf('frozen'), schema, frozen: true })
    const conflict = { code: 409, type: 'RelationConflict' }
    expect(await refused('updateTable', { table: table.id, name: nameOf('other') })).toMatchObject(conflict)
    expect(await refused('updateTable', { table: table.id, schema: { email: null } })).toMatchObject(conflict)
    expect(await refused('updateTable', { table: table.id, frozen: false })).toMatchObject(conflict)
    expect(await refused('renameTableColumn', { table: table.id, name: 'age', newName: 'years' })).toMatchObject(
      conflict,
    )
    expect((await call('createTableRows', { table: table.id, rows: [{ age: 1 }] })).rows).toHaveLength(1)
    expect((await call('updateTable', { table: table.id, schema: schema.properties, factor: 2 })).table.factor).toBe(2)
    expect((await call('duplicateTable', { sourceTableId: table.id })).rows).toBe(1)
    await call('deleteTable', { table: table.id })
  })

  test('duplicateTable copies columns and rows, under a name of its own unless one is given', async () => {
    const name = nameOf('source')
    const { table } = await call('createTable', { name, schema, keyColumn: 'email', factor: 2 })
    await call('createTableRows', { table: name, rows: [{ email: 'a', age: 1 }, { email: 'b' }] })
    const copy = await call('duplicateTable', { sourceTableId: name })
    expect(copy).toMatchObject({
      rows: 2,
      table: { name: name.replace('Table', 'CopyTable'), keyColumn: 'email', factor: 2 },
    })
    expect(copy.table.schema).toEqual(table.schema)
    const { rows } = await call('createTableRows', { table: copy.table.id, rows: [{ email: 'a' }, { email: 'c' }] })
    expect(rows).toMatchObject([{ email: 'c', id: 4 }])
    expect((await call('getTableRow', { table: copy.table.id, id: 1 })).row).toMatchObject({ email: 'a', age: 1 })
    const bare = await call('duplicateTable', { sourceTableId: name, schemaOnly: true, factor: 5 })
    expect(bare).toMatchObject({ rows: 0, table: { name: name.replace('Table', 'Copy2Table'), factor: 5 } })
    expect(await refused('duplicateTable', { sourceTableId: name, tableName: name })).toMatchObject({
      type: 'AlreadyExists',
    })
  })

  test('the factor of a table only grows, and names are unique and end in Table', async () => {
    const name = nameOf('factor')
    const { table } = await call('createTable', { name, schema, factor: 3 })
    expect(await refused('updateTable', { table: name, factor: 2 })).toMatchObject({ type: 'RelationConflict' })
    expect(await refused('createTable', { name, schema })).toMatchObject({ code: 409, type: 'AlreadyExists' })
    const { table: other } = await call('createTable', { name: nameOf('other'), schema })
    expect(await refused('updateTable', { table: other.id, name })).toMatchObject({ code: 409, type: 'AlreadyExists' })
    expect((await call('updateTable', { table: other.id, name: nameOf('moved') })).table.id).toBe(other.id)
    for (const bad of ['orders', '1Table', 'a-bTable', `${'x'.repeat(50)}Table`, table.id]) {
      expect(await refused('createTable', { name: bad, schema })).toMatchObject({ code: 400, type: 'InvalidPayload' })
    }
    expect(await refused('getOrCreateTable', { table: 'orders', schema })).toMatchObject({ code: 400 })
    expect(await refused('createTable', { name: 'orders', schema })).toMatchObject({
      message: expect.stringMatching(
        /^name must match pattern ".+": Letters, digits and underscores; it ends in `Table`$/,
      ),
    })
  })

  test('a key column that is set later is refused while several rows have one value, and then keeps keys unique', async () => {
    const { table } = await call('createTable', { name: nameOf('key'), schema })
    const { rows } = await call('createTableRows', {
      table: table.id,
      rows: [{ email: 'a' }, { email: 'a' }, { age: 1 }, {}],
    })
    expect(await refused('updateTable', { table: table.id, keyColumn: 'email' })).toMatchObject({
      type: 'AlreadyExists',
      message: expect.stringContaining("'email'"),
    })
    await call('updateTableRows', { table: table.id, rows: [{ id: rows[1].id, email: 'b' }] })
    await call('updateTable', { table: table.id, keyColumn: 'email' })
    expect((await call('createTableRows', { table: table.id, rows: [{ email: 'b' }] })).errors).toHaveLength(1)
    await call('updateTable', { table: table.id, keyColumn: null })
    expect((await call('createTableRows', { table: table.id, rows: [{ email: 'b', age: 2 }] })).rows).toHaveLength(1)
    expect((await call('updateTable', { table: table.id, keyColumn: 'age' })).table.keyColumn).toBe('age')
    expect(await refused('updateTable', { table: table.id, keyColumn: 'none' })).toMatchObject({
      type: 'InvalidPayload',
    })
  })
})

test.each([
  [
    'a JSON Schema',
    {
      type: 'object',
      properties: { s: { type: 'string', 'x-zui': {} }, n: { type: 'integer' } },
      additionalProperties: false,
      required: ['s'],
    },
  ],
  ['a map of schemas', { s: { type: 'string' }, n: { type: ['number', 'null'] } }],
  ['a map of examples', { s: 'text', n: 7 }],
])('a schema may be %s', async (_form, given) => {
  const { table } = await own.clients['the published client']('createTable', { name: nameOf('form'), schema: given })
  expect(table.schema.properties).toMatchObject({
    s: { type: 'string', nullable: true, 'x-zui': { index: 0 } },
    n: { type: 'number', nullable: true, 'x-zui': { index: 1 } },
  })
})

test('examples, unions and columns called type or properties are understood', async () => {
  const { table } = await own.clients['the published client']('createTable', {
    name: nameOf('forms'),
    schema: {
      type: { type: 'string' },
      properties: { type: 'object', properties: { a: { type: 'number' } } },
      list: ['x'],
      object: { type: 'banana', size: 1 },
      union: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      optional: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      choice: { enum: ['a', 'b'] },
    },
  })
  const { properties } = table.schema
  expect(properties).toMatchObject({
    type: { type: 'string' },
    properties: { type: 'object' },
    list: { type: 'array', items: { type: 'string' } },
    object: { type: 'object' },
    optional: { type: 'string' },
    choice: { type: 'string' },
  })
  expect(properties.union).not.toHaveProperty('type')
  expect(properties.object).not.toHaveProperty('size')
})

test.each([
  ['a 21st column', Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`c${index}`, 'x'])), 'LimitExceeded'],
  ['a column of 31 characters', { ['x'.repeat(31)]: 'x' }, 'InvalidPayload'],
  ['a system column', { createdAt: 'x' }, 'InvalidPayload'],
  ['a column called __proto__', JSON.parse('{"__proto__": "x"}'), 'InvalidPayload'],
  ['a column called like an operator of filters', { $or: 'x' }, 'InvalidPayload'],
  ['a column with U+0000', { 'a\u0000': 'x' }, 'InvalidPayload'],
  ['a column with half of a surrogate pair', { 'a\ud800': 'x' }, 'InvalidPayload'],
  ['an unknown type', { type: 'object', properties: { a: { type: 'text' } } }, 'InvalidJsonSchema'],
  ['a pattern that is none', { a: { type: 'string', pattern: '(' } }, 'InvalidJsonSchema'],
  ['a pattern with a back reference', { a: { type: 'string', pattern: '(a)\\1' } }, 'InvalidJsonSchema'],
  ['a column without a schema', { type: 'object', properties: { a: null } }, 'InvalidJsonSchema'],
])('%s is refused', async (_problem, given, type) => {
  const { body } = await platform.ask(
    'POST',
    '/v1/tables',
    { name: nameOf('bad'), schema: given },
    { 'x-bot-id': own.botId },
  )
  expect(body).toMatchObject({ type })
})

test('a table of another bot is not found by any operation', async () => {
  const { table } = await foreign.clients['the published client']('createTable', { name: nameOf('secret'), schema })
  await foreign.clients['the published client']('createTableRows', { table: table.id, rows: [{ email: 'x' }] })
  const rows = [{ id: 1, email: 'stolen' }]
  const calls: [string, object][] = [
    ['getTable', {}],
    ['updateTable', { tags: { a: 'b' } }],
    ['renameTableColumn', { name: 'email', newName: 'mail' }],
    ['deleteTable', {}],
    ['duplicateTable', { sourceTableId: table.id }],
    ['getTableRow', { id: 1 }],
    ['createTableRows', { rows }],
    ['updateTableRows', { rows }],
    ['upsertTableRows', { rows }],
    ['deleteTableRows', { deleteAllRows: true }],
  ]
  for (const [operation, input] of calls) {
    for (const reference of [table.id, table.name]) {
      const given = {
        ...input,
        ...(operation === 'duplicateTable' ? { sourceTableId: reference } : { table: reference }),
      }
      const call = own.clients['the published client'](operation, given)
      await expect(call).rejects.toMatchObject({ code: 404, type: 'ResourceNotFound' })
    }
  }
  const { row } = await foreign.clients['the published client']('getTableRow', { table: table.id, id: 1 })
  expect(row.email).toBe('x')
  expect(
    (await own.clients['the published client']('listTables')).tables.map(({ id }: { id: string }) => id),
  ).not.toContain(table.id)
})

test('an integration of the workspace uses the tables of the bot that has it, and of no other', async () => {
  const name = nameOf('stock')
  const { table } = await foreign.clients['the published client']('createTable', { name: nameOf('secret'), schema })
  const { ask } = await installIntegration(platform, own.botId, `a${newId('check')}`.toLowerCase())

  expect(await ask('POST', '/v1/tables', { name, schema })).toMatchObject({ status: 200, body: { table: { name } } })
  expect(await ask('POST', `/v1/tables/${name}/rows`, { rows: [{ email: 'a' }] })).toMatchObject({ status: 200 })
  const { rows } = await own.clients['the published client']('findTableRows', { table: name })
  expect(rows).toMatchObject([{ email: 'a' }])
  expect(await ask('GET', `/v1/tables/${table.id}`)).toMatchObject({ status: 404 })
})

test('an integration of another workspace reads and changes no table of the bot that has it', async () => {
  const { table } = await own.clients['the published client']('createTable', { name: nameOf('secret'), schema })
  await own.clients['the published client']('createTableRows', { table: table.id, rows: [{ email: 'x' }] })
  const { id: workspace } = (await platform.ask('POST', '/v1/admin/workspaces', { name: 'Strangers' })).body
  const { ask } = await installIntegration(platform, own.botId, `a${newId('check')}`.toLowerCase(), workspace)
  const rows = [{ id: 1, email: 'stolen' }]
  const requests: [string, string, object?][] = [
    ['GET', ''],
    ['POST', '', { name: nameOf('planted'), schema }],
    ['GET', `/${table.id}`],
    ['POST', `/${table.id}`, { schema }],
    ['POST', `/${nameOf('planted')}`, { schema }],
    ['PUT', `/${table.id}`, { tags: { a: 'b' } }],
    ['PUT', `/${table.id}/column`, { name: 'email', newName: 'mail' }],
    ['DELETE', `/${table.id}`],
    ['POST', `/${table.id}/duplicate`, {}],
    ['GET', `/${table.id}/export`],
    ['POST', `/${table.id}/import`, { fileId: 'file_1' }],
    ['GET', `/${table.id}/jobs`],
    ['POST', `/${table.id}/rows/find`, {}],
    ['POST', `/${table.id}/rows`, { rows }],
    ['PUT', `/${table.id}/rows`, { rows }],
    ['POST', `/${table.id}/rows/upsert`, { rows }],
    ['POST', `/${table.id}/rows/delete`, { deleteAllRows: true }],
  ]
  for (const [method, path, body] of requests) {
    const answer = await ask(method, `/v1/tables${path}`, body)
    expect(answer, `${method} ${path}`).toMatchObject({ status: 403, body: { type: 'Forbidden' } })
  }
  expect((await own.clients['the published client']('findTableRows', { table: table.id })).rows).toMatchObject([
    { id: 1, email: 'x' },
  ])
})

test('changes of members are recorded, and those of the bot are not', async () => {
  const name = nameOf('audited')
  const ask = (method: string, path: string, body?: object) =>
    platform.ask(method, `/v1/tables${path}`, body, { 'x-bot-id': own.botId })
  const { body } = await ask('POST', '', { name, schema })
  await ask('POST', `/${name}/rows`, { rows: [{ email: 'secret' }] })
  await ask('POST', `/${name}/rows/delete`, { deleteAllRows: true })
  await ask('POST', `/${name}/rows/find`, {})
  await own.clients['the client of bot code']('createTableRows', { table: name, rows: [{ email: 'of the bot' }] })
  await ask('DELETE', `/${name}`)

  const records = await platform.context.db('audit_records').whereIn('resource_id', [body.table.id, name]).orderBy('id')
  expect(records.map(({ operation, fields, outcome }) => [operation, fields, outcome])).toEqual([
    ['createTable', 'name, schema', 'done'],
    ['createTableRows', 'rows', 'done'],
    ['deleteTableRows', 'deleteAllRows', 'done'],
    ['deleteTable', '', 'done'],
  ])
})

test('tables go with their bot', async () => {
  const { botId, clients } = await openClients(platform)
  const { table } = await clients['the published client']('createTable', { name: 'goneTable', schema })
  await clients['the published client']('createTableRows', { table: table.id, rows: [{ email: 'x' }] })
  await platform.ask('DELETE', `/v1/admin/bots/${botId}`)
  expect(await platform.context.db('bot_tables').where({ id: table.id })).toEqual([])
  expect(await platform.context.db('table_rows').where({ table_id: table.id })).toEqual([])
})
