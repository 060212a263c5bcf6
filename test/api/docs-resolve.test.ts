import { expect, test } from 'vitest'
import { describeApi } from '#shared/openapi/document.ts'
// @ts-expect-error -- A script of the page, which has no types.
import { resolvePart } from '../../api/docs/resolve.js'

const resolve = resolvePart as (document: object, path: string[]) => unknown

test('the page resolves each operation to what the document says, without references', () => {
  const document = describeApi('https://example.com')
  const paths = document.paths as Record<string, object>
  for (const path of Object.keys(paths)) {
    expect(JSON.stringify(resolve(document, ['paths', path]))).not.toContain('"$ref":"#')
  }
  const text = JSON.stringify(resolve(document, ['paths', '/v1/admin/bots', 'post', 'responses', '401']))
  expect(text).toContain('"application/json"')
})

test('a component within itself stays a reference', () => {
  const tree = { type: 'object', properties: { child: { $ref: '#/components/schemas/Tree~1Node' } } }
  const document = { components: { schemas: { 'Tree/Node': tree } }, root: { $ref: '#/components/schemas/Tree~1Node' } }
  expect(resolve(document, ['root'])).toEqual(tree)
})
