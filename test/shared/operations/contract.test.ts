import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import * as operations from '#shared/operations/index.ts'
import { compile } from '#shared/schema.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'shared', 'operations')

const isText = (schema: object) => 'type' in schema && schema.type === 'string'

describe.each(Object.values(operations))('the operation $method $path', (operation) => {
  test('says what it does, in a sentence', () => {
    expect(operation.description).toMatch(/^[A-Z].*\.$/)
  })

  test('has valid schemas, which a process does not check, and compiles at the first call', () => {
    const ajv = new Ajv()
    for (const schema of [operation.input, operation.output]) {
      void ajv.validateSchema(schema)
      expect(ajv.errors ?? []).toEqual([])
    }
    const isValid = compile(operation.input, operation.takesBody ? 'body' : 'query')
    expect(() => isValid({})).not.toThrow()
  })

  test('takes and gives objects whose fields are all declared, or gives a text', () => {
    const { oneOf: outputs = [operation.output] } = operation.output as { oneOf?: object[] }
    for (const schema of [operation.input, ...outputs.filter((output) => !isText(output))]) {
      expect(schema).toMatchObject({ type: 'object', additionalProperties: false, properties: expect.any(Object) })
    }
  })

  test('declares every parameter of its path that its handler gets', () => {
    const parameters = [...operation.path.matchAll(/\{(\w+)\*?\}/g)]
      .map(([, name]) => name)
      .filter((name) => name !== 'webhookId')
    expect((operation.input as { required?: string[] }).required ?? []).toEqual(expect.arrayContaining(parameters))
  })
})

test('every file that bears an operation’s name is in the list, and each name once for an interface', async () => {
  const files: string[] = []
  for (const api of ['chat', 'webchat', 'converse', 'runtime', 'files', 'tables', 'models', 'admin']) {
    for (const file of await readdir(join(folder, api))) {
      const text = await readFile(join(folder, api, file), 'utf8')
      if (text.includes('= operation({')) files.push(`${api}/${file}`)
    }
  }
  const list = await readFile(join(folder, 'index.ts'), 'utf8')
  for (const file of files) expect(list).toContain(`'./${file}'`)
  expect(files).toHaveLength(Object.keys(operations).length)
  for (const file of files)
    expect(await readFile(join(folder, file), 'utf8')).toContain(`name: '${file.split('/')[1]!.slice(0, -3)}'`)
})
