import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startLoggedProcess } from '../support/logged-process.ts'

test('a worker stops in time although PostgreSQL gives it no connection', async () => {
  const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const worker = startLoggedProcess('worker', {
    PATH: process.env['PATH'],
    DATABASE_URL: `postgres://isobot@127.0.0.1:${(silent.address() as AddressInfo).port}/isobot`,
    ISOBOT_SECRET: 'x'.repeat(32),
    SHUTDOWN_SECONDS: '12',
  })
  await expect.poll(() => worker.text(), { timeout: 40_000 }).toContain('Heartbeat failed')
  await worker.stop()
  expect(worker.text()).toContain('"msg":"Stopped"')
}, 90_000)
