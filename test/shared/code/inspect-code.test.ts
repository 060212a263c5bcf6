import { expect, test } from 'vitest'
import { adminToken, openPlatform } from '../../support/platform.ts'

test('an upload whose sender closes the connection is not inspected', async () => {
  await using platform = await openPlatform({ worker: false })
  const { db } = platform.context
  const leaving = new AbortController()
  const [workspaceId] = await db('workspaces').pluck('id')
  const answer = fetch(`${platform.url}/v1/admin/bots`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${adminToken}`,
      'x-workspace-id': workspaceId,
    },
    body: JSON.stringify({ code: 'export const hooks = {}' }),
    signal: leaving.signal,
  })
  await expect.poll(() => db('inspections').select('id')).toHaveLength(1)
  leaving.abort()
  await expect(answer).rejects.toThrow('aborted')
  await expect.poll(() => db('inspections').select('id')).toEqual([])
  expect(await db('bots').select('id')).toEqual([])
})

test('an upload whose workspace is deleted meanwhile is told so at once', async () => {
  await using platform = await openPlatform({ worker: false })
  const { db } = platform.context
  const { body } = await platform.ask('POST', '/v1/admin/workspaces', { name: 'short-lived' })
  const { id } = body
  const within = { 'x-workspace-id': id }
  const answer = platform.ask('POST', '/v1/admin/bots', { code: 'export const hooks = {}' }, within)
  await expect.poll(() => db('inspections').select('id')).toHaveLength(1)
  expect(await platform.ask('DELETE', `/v1/admin/workspaces/${id}`, undefined, within)).toMatchObject({ status: 200 })
  expect(await answer).toMatchObject({
    status: 400,
    body: { type: 'ReferenceNotFound', message: expect.stringContaining(id) },
  })
})
