import { Client } from '@botpress/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPlatform, type Platform } from '../../../support/platform.ts'

let platform: Platform
let client: Client
beforeAll(async () => {
  platform = await openPlatform()
  client = new Client({ apiUrl: platform.url, token: platform.token, workspaceId: platform.workspaceId })
})
afterAll(() => platform[Symbol.asyncDispose]())

const code = 'export const handler = () => ({})'

/** Has the two kinds of faults that scripts of public integrations have. */
const faulty = 'body = .body ?? "none"\nif body == "" {\n  to_string!(body, }'

/** The answer of a method, whose type in the published client has no warnings. */
async function warningsOf(answer: Promise<object>): Promise<unknown> {
  return ((await answer) as { warnings?: unknown }).warnings
}

test(
  'an integration whose scripts do not compile is accepted, and the answers name field, position and fault',
  { timeout: 150_000 },
  async () => {
    const identifier = { extractScript: faulty, fallbackHandlerScript: '{ "status": 200 }' }
    const definition = { name: 'misspelt', version: '1.0.0', code, identifier }
    const expected = [
      `identifier.extractScript does not compile: line 1, column 8: unnecessary error coalescing operation ` +
        `(this expression can't fail); the script has 1 more`,
    ]
    // The first compilation also starts the compiler, which may take long on a busy machine.
    const validated = () => client.validateIntegrationCreation(definition)
    await expect.poll(validated, { timeout: 120_000 }).toEqual({ warnings: expected })
    const created = await client.createIntegration(definition)
    expect(created).toMatchObject({ integration: { name: 'misspelt', identifier }, warnings: expected })
    const { id } = created.integration
    expect(await client.validateIntegrationUpdate({ id, code, identifier })).toEqual({ warnings: expected })
    expect(await client.updateIntegration({ id, code, identifier })).toMatchObject({ warnings: expected })
  },
)

const linked = (linkTemplateScript: string) => ({ identifier: { linkTemplateScript } })

test('an update has warnings about the scripts in it, with code or without, and about links of every configuration', async () => {
  const { integration } = await client.createIntegration({ name: 'linked', version: '1.0.0', code })
  const change = {
    id: integration.id,
    identifier: { extractScript: '.body', fallbackHandlerScript: 'unknown(.body)' },
    configuration: linked('"https://service.example/{{ .webhookId }}'),
    configurations: { plain: linked('"https://service.example"'), other: linked(''), third: linked(')') },
  }
  const warnings = await warningsOf(client.updateIntegration(change))
  expect(warnings).toEqual([
    expect.stringMatching(
      /^identifier\.fallbackHandlerScript does not compile: line 1, column 1: call to undefined fun/,
    ),
    expect.stringMatching(/^configuration\.identifier\.linkTemplateScript does not compile: line 1, column \d+: /),
    expect.stringMatching(
      /^configurations\.third\.identifier\.linkTemplateScript does not compile: line 1, column 1: /,
    ),
  ])
  expect(await client.updateIntegration({ id: integration.id, title: 'Linked' })).not.toHaveProperty('warnings')
  const mended = { id: integration.id, identifier: { fallbackHandlerScript: '.body' } }
  expect(await client.updateIntegration(mended)).not.toHaveProperty('warnings')
})

test('a script that the compiler cannot finish has a warning after a bounded time, and so have those after it', async () => {
  const endless = `${'map_values({}) -> |v| { '.repeat(60)}v${'}'.repeat(60)}`
  const configurations = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`c${index}`, { identifier: { linkTemplateScript: endless } }]),
  )
  const identifier = { extractScript: '.body +', fallbackHandlerScript: endless }
  const hostile = { name: 'hostile', version: '1.0.0', code, identifier, configurations }
  const started = performance.now()
  const warnings = await warningsOf(client.createIntegration(hostile))
  expect(performance.now() - started).toBeLessThan(30_000)
  expect(warnings).toEqual([
    expect.stringMatching(/^identifier\.extractScript does not compile: line 1, column 8: syntax error/),
    'identifier.fallbackHandlerScript does not compile: The script takes more than 2 s',
    expect.stringMatching(
      /^configurations\.c\d+\..* and 29 more scripts were not compiled: the compiler did not finish/,
    ),
  ])
})

test('without a worker, the answer comes after a bounded time, and its warning says so', async () => {
  await using lonely = await openPlatform({ worker: false })
  const { status, body } = await lonely.ask('POST', '/v1/admin/integrations/validate', {
    name: 'lonely',
    version: '1.0.0',
    identifier: { extractScript: faulty },
  })
  expect([status, body]).toEqual([
    200,
    { warnings: ['identifier.extractScript was not compiled: no worker answered within 25 s'] },
  ])
})
