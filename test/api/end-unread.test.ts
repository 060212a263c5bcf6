import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { endUnread } from '../../api/end-unread.ts'
import { prepareClose } from '../../api/graceful-close.ts'

const part = Buffer.alloc(64 * 1024)
const parts = 40

/** Begins to send a body to a server that refuses it at its first part, and does not read yet. */
async function beginRefused() {
  return (await openRefusing()).sending
}

async function openRefusing() {
  const server = createServer((incoming, response) => {
    incoming.once('data', () => {
      incoming.pause()
      endUnread(incoming)
      response.writeHead(413).end('refused')
    })
  })
  const { close } = prepareClose(server)
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const sending = connect((server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => void sending.destroy())
  sending.write(`POST / HTTP/1.1\r\nHost: test\r\nContent-Length: ${parts * part.length}\r\n\r\n`)
  sending.write(part)
  return { sending, close }
}

test('a client that sends a refused body for longer than a part is waited for, and only then reads, gets the answer', async () => {
  const sending = await beginRefused()
  for (let sent = 1; sent < parts; sent += 1) {
    await pause(75)
    sending.write(part)
  }
  const [answer] = await once(sending, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /)
})

test('a client that stops sending a refused body gets the answer, and loses its connection', async () => {
  const sending = await beginRefused()
  expect(await text(sending)).toMatch(/^HTTP\/1\.1 413 /)
})

test('a server that closes does not wait for the rest of a refused body', async () => {
  const { sending, close } = await openRefusing()
  sending.on('error', () => {})
  await once(sending, 'data')
  const closed = close()
  let sent = 1
  for (; sent < parts && !sending.closed; sent += 1) {
    await pause(75)
    sending.write(part)
  }
  await closed
  expect(sent).toBeLessThan(parts)
})
