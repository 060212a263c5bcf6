import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

/** A server that keeps whoever asks waiting with a little at a time, so that the connection is never idle. */
export interface Dripping extends AsyncDisposable {
  port: number
  drops(): number
  openConnections(): number
}

const pauseMilliseconds = 20

/** @param start what each connection is told first; `drop` what it is told again and again after that */
export async function startDripping(start: string, drop: string): Promise<Dripping> {
  let drops = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.write(start)
    const timer = setInterval(() => {
      drops++
      socket.write(drop)
    }, pauseMilliseconds)
    socket.resume().on('close', () => {
      clearInterval(timer)
      sockets.delete(socket)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    drops: () => drops,
    openConnections: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
