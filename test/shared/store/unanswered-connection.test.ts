import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { isOutage } from '#shared/errors.ts'
import { openDatabase, query } from '#shared/store/database.ts'

/** PostgreSQL's AuthenticationOk and ReadyForQuery. */
const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49])

/** A pooler that accepts connections and has none to the server: it answers no statement. */
async function openFullPooler() {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
    socket.once('data', () => socket.write(welcome))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { url: `postgres://isobot@127.0.0.1:${(server.address() as AddressInfo).port}/isobot`, open }
}

test('a connection that a pooler lets wait is closed again, and the request that waits for it names the remedy', async () => {
  const { url, open } = await openFullPooler()
  await using db = await databaseAt(url)
  const failure: unknown = await query(db, 'select 1', {}).catch((error: unknown) => error)
  expect(String(failure)).toContain('behind a pooler, raise its pool size')
  expect(isOutage(failure)).toBe(true)
  await expect.poll(() => open.size, { timeout: 2000 }).toBe(0)
}, 20_000)

async function databaseAt(url: string) {
  const db = openDatabase({ url, poolSize: 1, allowSelfSigned: false })
  return Object.assign(db, { [Symbol.asyncDispose]: () => db.destroy() })
}
