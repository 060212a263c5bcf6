import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { assertReachable } from '#shared/connectivity/reach-database.ts'
import { cert, key } from '../../sandbox/modules/server-certificate.ts'

/** PostgreSQL's refusal of a password. */
const refusal = (() => {
  const fields = Buffer.from('SFATAL\0C28P01\0Mpassword authentication failed\0\0')
  const length = Buffer.alloc(4)
  length.writeInt32BE(fields.length + 4)
  return Buffer.concat([Buffer.from('E'), length, fields])
})()

/** A server that answers the request for TLS as PostgreSQL does, and refuses every password. @returns its port */
async function openServer({ hasTls }: { hasTls: boolean }): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(hasTls ? 'S' : 'N')
      if (!hasTls) return
      const secured = new TLSSocket(socket, { isServer: true, cert, key })
      secured.on('error', () => {})
      secured.once('data', () => secured.end(refusal))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const reach = (port: number, query: string, allowSelfSigned: boolean) =>
  assertReachable({ url: `postgres://isobot:secret@127.0.0.1:${port}/isobot${query}`, allowSelfSigned }).catch(
    (error: unknown) => String(error).replaceAll(String(port), '<port>'),
  )

const certificateRefused =
  'UnreachableDatabaseError: PostgreSQL at 127.0.0.1:<port> has a self-signed certificate: set TLS_ALLOW_SELF_SIGNED=true if you trust it'

test('TLS_ALLOW_SELF_SIGNED accepts a self-signed certificate also where the address asks for TLS, unless it asks for its verification', async () => {
  const port = await openServer({ hasTls: true })
  const accepted = expect.stringContaining('password authentication failed') as string
  for (const query of ['', '?sslmode=require', '?application_name=a&sslmode=prefer', '?ssl=true'])
    expect([query, await reach(port, query, true)]).toEqual([query, accepted])
  for (const query of ['?sslmode=verify-full', '?sslmode=verify-ca'])
    expect([query, await reach(port, query, true)]).toEqual([query, certificateRefused])
  expect(await reach(port, '?sslmode=require', false)).toBe(certificateRefused)
})

test('the remedy for a server without TLS, and for a certificate that is not there, is in the address', async () => {
  const port = await openServer({ hasTls: false })
  expect(await reach(port, '?sslmode=require', false)).toContain(
    'does not support SSL connections: enable TLS on the server, or set sslmode=disable in DATABASE_URL',
  )
  expect(await reach(port, '?sslrootcert=/nowhere.pem', false)).toContain(
    "open '/nowhere.pem': correct sslrootcert, sslcert or sslkey in DATABASE_URL",
  )
})
