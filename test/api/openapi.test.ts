import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@botpress/client'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { errorStatuses } from '#shared/errors.ts'
import { describeApi, describeChat, type OpenApiDocument } from '#shared/openapi/document.ts'
import { errorsOf } from '#shared/openapi/errors.ts'
import { interfaceOf } from '#shared/openapi/interfaces.ts'
import * as operations from '#shared/operations/index.ts'
import { compile } from '#shared/schema.ts'
import { launchChromium } from '../browser/chromium.ts'
import { openPlatform, send, type DeployedBot, type Platform } from '../support/platform.ts'

const folder = join(import.meta.dirname, '..', '..', 'shared', 'operations')
const document = describeApi('https://bots.example.com')

// oxlint-disable-next-line typescript/no-explicit-any
function described({ path, method }: { path: string; method: string }): any {
  return document.paths[path.replaceAll('*}', '}')]?.[method.toLowerCase()]
}

describe('the OpenAPI document', () => {
  test('is valid by the schema of OpenAPI 3.1, as that of one chat is', async () => {
    for (const one of [document, describeChat('https://bots.example.com/chat/some')]) {
      const validator = new Validator()
      expect(await validator.validate(structuredClone(one))).toMatchObject({ valid: true })
      expect(validator.version).toBe('3.1')
    }
  })

  test('has the version of the runtime interface, and the tags of the specification', () => {
    expect(document['info']).toMatchObject({ version: '1.82.0' })
    const tagged = (tag: string) =>
      Object.values(document.paths)
        .flatMap((item) => Object.values(item))
        .filter(({ tags }) => (tags as string[]).includes(tag))
        .map(({ operationId }) => String(operationId))
        .toSorted()
    expect(tagged('documented')).toEqual([
      'adminListBots',
      'chatCreateEvent',
      'chatCreateMessage',
      'chatCreateUser',
      'chatGetConversation',
      'chatListParticipants',
      'runtimeConfigureIntegration',
    ])
    expect(document['tags']).toEqual(
      expect.arrayContaining(['documented', 'experimental'].map((name) => expect.objectContaining({ name }))),
    )
    expect(tagged('experimental')).not.toEqual([])
  })

  test('tags as experimental what published clients do not know, and that alone', () => {
    const published = new Client({}) as unknown as Record<string, unknown>
    // Clients of the chats are other packages; this is the only operation that those do not know.
    const unknown = Object.values(operations).filter(({ path, name }) =>
      ['chat', 'webchat'].includes(interfaceOf(path).name)
        ? name === 'showTyping'
        : typeof published[name] !== 'function',
    )
    const experimental = Object.values(operations).filter(({ stability }) => stability === 'experimental')
    expect(experimental.map(({ name }) => name)).toEqual(unknown.map(({ name }) => name))
  })

  test('refers to nothing that it does not have, and has no two operations of one name', () => {
    const text = JSON.stringify(document)
    const references = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, pointer]) => pointer!))
    expect(references.size).toBeGreaterThan(20)
    expect([...references].filter((pointer) => at(document, pointer.split('/')) === undefined)).toEqual([])
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map((one) => one['operationId']))
    expect(new Set(ids).size).toBe(Object.keys(operations).length)
  })

  test('has schemas that are valid by JSON Schema 2020-12, which OpenAPI 3.1 speaks', () => {
    const { schemas } = document['components'] as { schemas: object }
    for (const name of Object.keys(schemas)) {
      expect(() => asPublished({ $ref: `#/components/schemas/${name}` })).not.toThrow()
    }
    // Ajv's own words for what OpenAPI says otherwise.
    expect(JSON.stringify(document)).not.toMatch(/"(nullable|discriminator)":/)
  })

  test('has an example of each error, as every failed answer is', () => {
    const { examples } = document['components'] as { examples: Record<string, { value: unknown }> }
    expect(Object.keys(examples)).toEqual(expect.arrayContaining(Object.keys(errorStatuses)))
    const isError = asPublished({ $ref: '#/components/schemas/Error' })
    for (const { value } of Object.values(examples)) expect([isError(value), isError.errors]).toEqual([true, null])
  })
})

const ajv = addFormats.default(new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }))
ajv.addVocabulary(['components'])

/** Compiles a schema out of the document. */
function asPublished(schema: object): ValidateFunction {
  return ajv.compile({ ...schema, components: document['components'] })
}

describe.each(Object.values(operations))('the OpenAPI document tells of $method $path', (operation) => {
  test('its description, its callers and its errors', () => {
    const { description, security, responses, tags } = described(operation)
    expect(description).toContain(operation.description)
    expect(tags).toEqual([interfaceOf(operation.path).tag, ...(operation.stability ? [operation.stability] : [])])
    const alternatives: Partial<Record<string, number>> = { visitor: 0, invitee: 2 }
    expect(security).toHaveLength(alternatives[operation.access] ?? 1)
    const refusals = Object.keys(responses).filter((status) => Number(status) >= 400)
    expect(refusals).toEqual(expect.arrayContaining(['500', '503']))
    for (const type of operation.errors) expect(refusals).toContain(String(errorStatuses[type]))
    for (const type of operation.errors) expect(responses[errorStatuses[type]].$ref).toContain(type)
  })

  test('every error that its file says it answers', async () => {
    const file = join(folder, interfaceOf(operation.path).name, `${operation.name}.ts`)
    const thrown = [...(await readFile(file, 'utf8')).matchAll(/new ApiError\(\s*'(\w+)'/g)].map(([, type]) => type)
    expect(errorsOf(operation)).toEqual(expect.arrayContaining(thrown))
  })

  test('with an example of each parameter of its path, and of what it answers', () => {
    const { parameters, responses } = described(operation)
    const inPath = [...operation.path.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => name)
    expect(Object.keys(pathOf(parameters))).toEqual(inPath)
    const [content] = Object.values<{ schema: object; example: unknown }>(responses[operation.status].content)
    const gives = compile(
      operation.opensStream || operation.answersWithFile ? { type: 'string' } : operation.output,
      'closedBody',
    )
    for (const isValid of [gives, asPublished(content!.schema)]) {
      expect([isValid(structuredClone(content!.example)), isValid.errors]).toEqual([true, null])
    }
  })
})

const withBody = Object.values(operations).filter(({ takesBody }) => takesBody)

test.each(withBody)('$method $path takes the example that the OpenAPI document has for it', (operation) => {
  const { parameters, requestBody } = described(operation)
  const { webhookId: _inEveryAddress, ...path } = pathOf(parameters)
  const { schema, example } = requestBody.content[operation.form ? 'multipart/form-data' : 'application/json']
  const takes = compile(operation.input, 'closedBody')
  expect([takes({ ...example, ...path }), takes.errors]).toEqual([true, null])
  const isPublished = asPublished(schema)
  expect([isPublished(example), isPublished.errors]).toEqual([true, null])
})

function pathOf(parameters: { in?: string; name: string; example: unknown }[]): Record<string, unknown> {
  const inPath = parameters.filter((one) => one.in === 'path')
  return Object.fromEntries(inPath.map(({ name, example }) => [name, example]))
}

describe('over HTTP', () => {
  const parts = new AsyncDisposableStack()
  let platform: Platform
  let bot: DeployedBot
  beforeAll(async () => {
    platform = parts.use(await openPlatform({ worker: false }))
    bot = await platform.createBot()
  })
  afterAll(() => parts.disposeAsync())

  test('anybody may read it, and it names the address of the server', async () => {
    const { status, headers, body } = await send('GET', `${platform.url}/openapi.json`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toContain('application/json')
    expect(body).toEqual(JSON.parse(JSON.stringify(describeApi(platform.url))))
  })

  test('a chat describes itself at its own address, and nothing but the chat', async () => {
    const { status, body } = await send('GET', `${bot.chatUrl}/openapi.json`)
    expect(status).toBe(200)
    expect(body.servers).toEqual([{ url: bot.chatUrl }])
    expect(body.paths['/messages'].post.operationId).toBe('createMessage')
    expect(body.tags.map(({ name }: { name: string }) => name)).toEqual(['Chat', 'documented', 'experimental'])
    const paths = Object.keys((body as OpenApiDocument).paths)
    expect(paths.filter((path) => path.startsWith('/v1') || path.includes('webhookId'))).toEqual([])

    const user = await send(
      'POST',
      `${body.servers[0].url}/users`,
      body.paths['/users'].post.requestBody.content['application/json'].example,
    )
    expect(user).toMatchObject({ status: 201, body: { user: { name: 'Ada' } } })
  })

  test('where there is no chat, there is no description', async () => {
    const { status, body } = await send('GET', `${platform.url}/chat/nowhere/openapi.json`)
    expect([status, body.type]).toEqual([404, 'ResourceNotFound'])
  })

  test('tags in a query are understood in the style that the document names', async () => {
    const headers = { 'x-bot-id': bot.id }
    for (const tag of ['red', 'blue']) {
      await platform.ask('POST', '/v1/chat/users', { tags: { colour: tag } }, headers)
    }
    const { body } = await platform.ask('GET', '/v1/chat/users?tags%5Bcolour%5D=red', undefined, headers)
    expect(body.users.map(({ tags }: { tags: object }) => tags)).toEqual([{ colour: 'red' }])
  })

  test.each(['/docs/..%2Fopenapi.ts', '/docs/package.json', '/docs/index.js'])(
    'of the page’s folder, %s is not served',
    async (path) => {
      const { status } = await send('GET', `${platform.url}${path}`)
      expect(status).toBe(404)
    },
  )

  describe('the page in a browser', () => {
    let browser: Browser
    let page: Page
    let requests: string[]
    let complaints: string[]
    beforeAll(async () => {
      browser = parts.adopt(await launchChromium(), (open) => open.close())
    }, 600_000)

    beforeEach(async () => {
      const context = await browser.newContext()
      page = await context.newPage()
      requests = []
      complaints = []
      page.on('request', (request) => requests.push(request.url()))
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()))
      await page.goto(`${platform.url}/docs`)
      await page.getByText('createMessage').first().waitFor({ timeout: 50_000 })
      return () => context.close()
    })

    test('shows every operation, asks no other host, and breaks no rule of its own policy', async () => {
      const shown: string[] = []
      const interfaces = page.locator('.opblock-tag')
      for (const [index, heading] of (await interfaces.all()).entries()) {
        const name = await heading.getAttribute('data-tag')
        if (index > 0) await heading.click()
        await page.locator(`.opblock[id^="operations-${name}-"]`).first().waitFor()
        shown.push(...(await page.locator('.opblock').evaluateAll((blocks) => blocks.map(({ id }) => id))))
      }
      expect(new Set(shown).size).toBe(Object.keys(operations).length)
      await interfaces.first().click()
      await page.getByText('createMessage').first().click()
      await page.getByText('Where is my order?').first().waitFor()
      const hosts = new Set(requests.filter((url) => !url.startsWith('data:')).map((url) => new URL(url).origin))
      expect([...hosts]).toEqual([platform.url])
      expect(complaints).toEqual([])
    })

    test('an operation can be tried out from it', async () => {
      const operation = page.locator('#operations-Chat-chatHello')
      await operation.locator('.opblock-summary-control').click()
      await operation.locator('input[placeholder=webhookId]').fill(bot.webhookId)
      await operation.getByRole('button', { name: 'Execute' }).click()
      await operation.locator('.live-responses-table').getByText('"Hello"').first().waitFor({ timeout: 10_000 })
      expect(complaints).toEqual([])
    })
  })
})

function at(value: unknown, path: string[]): unknown {
  const [name, ...rest] = path
  return name === undefined ? value : at((value as Record<string, unknown> | undefined)?.[name], rest)
}
