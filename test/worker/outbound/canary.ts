import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

/** Listens where no request may arrive, and notes when one does. */
export interface Canary extends AsyncDisposable {
  port: number
  /** Connections that were ever made to it. */
  connections(): number
}

/** Starts a canary at an address of this machine, `::` for all of them. It closes each connection. */
export async function startCanary(address = '::', port = 0): Promise<Canary> {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => {}).destroy()
  })
  server.listen(port, address)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}
