import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Platform } from '../../support/platform.ts'
import type { ServerPorts } from './hostile.ts'

/** Servers to which hostile code connects. */
export interface Servers extends AsyncDisposable {
  ports: ServerPorts
  /**
   * Of the worker: it permits connections to these servers, and for all that its lists can say also to those of the platform,
   * so that only the check of the addresses is between them and the code.
   */
  environment: NodeJS.ProcessEnv
  /** How many connections to these servers are open. */
  open(): Promise<number>
}

/** All names of this machine that the lists can have, and every host. */
const hosts = ['127.0.0.1', '127.1', '2130706433', 'localhost', '0.0.0.0', '127.0.0.2', '169.254.169.254', '*']

export async function openServers({ environment, url }: Platform): Promise<Servers> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
  const echo = createServer((socket) => socket.pipe(socket)).on('connection', keep)
  const deaf = createServer({ pauseOnConnect: true }).on('connection', keep)
  const flooding = createServer(flood).on('connection', keep)
  const own = [environment['DATABASE_URL'], environment['REDIS_URL'], url].map((each) => new URL(each!))
  const ports = {
    echo: await listen(echo),
    deaf: await listen(deaf),
    flooding: await listen(flooding),
    own: own.map(({ port, protocol }) => Number(port) || (protocol === 'redis:' ? 6379 : 5432)),
  }
  const permitted = [ports.echo, ports.deaf, ports.flooding, ...ports.own, 80].flatMap((port) =>
    hosts.map((host) => `${host}:${port}`),
  )
  return {
    ports,
    environment: {
      SANDBOX_NET: permitted.join(','),
      OUTBOUND_CONNECT: permitted.join(','),
      OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8,0.0.0.0/8,::1/128,localhost',
    },
    async open() {
      // A socket that is not read does not notice that its peer has closed the connection.
      for (const socket of sockets) socket.resume()
      return sockets.size
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      for (const server of [echo, deaf, flooding]) server.close()
    },
  }
}

function flood(socket: Socket): void {
  const more = () => {
    while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
  }
  socket.on('drain', more)
  more()
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
