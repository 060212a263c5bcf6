import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import * as operations from '#shared/operations/index.ts'
import { notApplicable } from '#shared/operations/not-applicable.ts'
import { findOperation } from '#shared/router.ts'
import { publishedOperations, type PublishedOperation } from '../../support/published-operations.ts'

let published: PublishedOperation[]
beforeAll(async () => {
  published = await publishedOperations()
})

/** Clients name parameters as they like; what counts is where they are. */
const shape = ({ name, method, path }: Omit<PublishedOperation, 'fields'>) =>
  `${name} ${method} ${path.replaceAll(/\{\w+\*?\}/g, '{}')}`

describe('an operation of the published clients', () => {
  test('is here, by its name, method and path, or listed as one that the platform does not have', () => {
    expect(published.length).toBeGreaterThan(200)
    const known = new Set([...Object.values(operations), ...notApplicable].map(shape))
    expect(published.map(shape).filter((one) => !known.has(one))).toEqual([])
  })

  test('is listed as missing only if it is, and if there is one', () => {
    const here = new Set(Object.values(operations).map(shape))
    expect(notApplicable.map(shape).filter((one) => here.has(one))).toEqual([])
    const theirs = new Set(published.map(shape))
    expect(notApplicable.map(shape).filter((one) => !theirs.has(one))).toEqual([])
  })

  test('leads to itself, and to no other operation with a parameter in the place of its words', () => {
    const missing = new Set(notApplicable.map(({ name }) => name))
    const astray = published.filter((operation) => {
      const { name, method, path } = operation
      const find = () => findOperation(method, path.replaceAll(/[{}]/g, ''))
      if (!missing.has(name)) return shape(find().operation) !== shape(operation)
      expect(find).toThrow(
        expect.objectContaining({
          type: 'MethodNotFound',
          status: 405,
          metadata: expect.objectContaining({ operation: name }),
        }),
      )
      return false
    })
    expect(astray).toEqual([])
  })
})

/** Fields that have no effect, by their operations; they are dropped. */
const withoutEffect: Record<string, string[]> = {
  // The API's own deprecated fields, without a use in the public repository.
  updateConversation: ['currentTaskId'],
  ...Object.fromEntries(['createUser', 'getOrCreateUser', 'updateUser'].map((name) => [name, ['attributes']])),
  // Of the hosted service: its accounts, bills and e-mails.
  updateAccount: ['refresh'],
  createWorkspace: ['billingVersion'],
  updateWorkspace: ['spendingLimit'],
  createWorkspaceMember: ['sendEmail'],
  updateBot: ['authentication', 'blocked', 'layers'],
  // The presentation of a public hub.
  ...Object.fromEntries(
    ['createIntegration', 'updateIntegration', 'validateIntegrationCreation', 'validateIntegrationUpdate'].map(
      (name) => [name, ['icon', 'readme', 'layers', 'url']],
    ),
  ),
  ...Object.fromEntries(
    ['createInterface', 'updateInterface', 'createPlugin', 'updatePlugin'].map((name) => [
      name,
      ['icon', 'readme', 'sdkVersion'],
    ]),
  ),
  // Refused as gone.
  listTagValues: ['type', 'nextToken', 'pageSize'],
}

/** The names of the fields of an input, which may be a choice of several. */
function fieldsOf({ properties = {}, allOf = [], anyOf = [], oneOf = [] }: InputSchema): string[] {
  return [...Object.keys(properties), ...[...allOf, ...anyOf, ...oneOf].flatMap(fieldsOf)]
}

interface InputSchema {
  properties?: object
  allOf?: InputSchema[]
  anyOf?: InputSchema[]
  oneOf?: InputSchema[]
}

test('the platform reads each field that the published client sends, unless it is known to have no effect', () => {
  const read = new Map(Object.values(operations).map((one) => [shape(one), new Set(fieldsOf(one.input))]))
  const dropped = published.flatMap((operation) => {
    const known = read.get(shape(operation))
    const names = operation.fields.filter(
      (name) => known && !known.has(name) && !withoutEffect[operation.name]?.includes(name),
    )
    return names.map((name) => `${operation.name}: ${name}`)
  })
  expect(dropped).toEqual([])
})

test('the page of operations has each one that is missing, with the reason', async () => {
  const page = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('## Operations that Isobot does not have')
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const listed = rows.flatMap((line) => {
    const [, names = '', reason = ''] = line.split('|').map((cell) => cell.trim())
    return [...names.matchAll(/`(\w+)`/g)].map(([, name]) => `${name!}: ${reason}`)
  })
  const sorted = notApplicable.map(({ name, reason }) => `${name}: ${reason}`).toSorted()
  expect(listed.toSorted()).toEqual(sorted)
})
