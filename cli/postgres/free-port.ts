import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/**
 * A port of 127.0.0.1 that nobody listened on a moment ago. Somebody else may take it before it is used: whoever
 * starts a server on it tries again with another one.
 */
export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
