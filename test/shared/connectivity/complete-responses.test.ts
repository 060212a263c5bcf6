import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { s3ObjectStore } from '#shared/files/s3-object-store.ts'
import { startClosingServer } from '../../support/closing-server.ts'
import { openGuard, usual } from '../../worker/outbound/fixture.ts'

/** So many bytes fill the read-ahead of undici, which then pauses the response. */
const readAhead = 64 * 1024

test('bot code reads a response whose server closes the connection before it is read', async () => {
  await using server = await startClosingServer(readAhead)
  await using guard = openGuard([`127.0.0.1:${server.port}`])
  const response = await guard.outbound.request({ ...usual, url: `http://127.0.0.1:${server.port}/` })
  await server.sendBody()
  expect(await text(response.body)).toHaveLength(readAhead)
})

test('a slow download of a file ends whole when the object store closes the connection', async () => {
  // The reader of the store holds as much again.
  const bytes = 2 * readAhead
  await using server = await startClosingServer(bytes)
  const keys = { accessKeyId: 'key', secretAccessKey: 'secret', region: 'us-east-1' }
  const store = s3ObjectStore({ ...keys, bucket: 'bucket', endpoint: `http://127.0.0.1:${server.port}` })
  const content = store.read({ id: 'obj_1', size: bytes })
  content.read(0)
  await server.sendBody()
  expect(await text(content)).toHaveLength(bytes)
})
