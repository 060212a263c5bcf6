import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, type AddressInfo, type ListenOptions } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Addresses of listening sockets that a sandbox process should be unable to reach. */
export interface ProbeSockets {
  /** Options of `net.connect`. */
  tcp: { host: string; port: number }
  abstract: { path: string }
  byPath: { path: string }
}

/** Listens in each way in which a server of this machine can be reached. */
export async function openProbeSockets(): Promise<ProbeSockets & AsyncDisposable> {
  const sockets = new AsyncDisposableStack()
  const listen = async (options: ListenOptions) => {
    const server = createServer((socket) => socket.destroy())
    server.listen(options)
    await once(server, 'listening')
    sockets.defer(async () => {
      const closed = once(server, 'close')
      server.close()
      await closed
    })
    return server.address()
  }
  const name = `isobot-probe-${randomUUID()}`
  const path = join(tmpdir(), name)
  try {
    const tcp = (await listen({ host: '127.0.0.1', port: 0 })) as AddressInfo
    await listen({ path: `\0${name}` })
    // Every user may connect, as the file's mode goes; database servers set theirs the same way.
    await listen({ path, readableAll: true, writableAll: true })
    sockets.defer(() => rm(path, { force: true }))
    return {
      tcp: { host: tcp.address, port: tcp.port },
      abstract: { path: `\0${name}` },
      byPath: { path },
      [Symbol.asyncDispose]: () => sockets.disposeAsync(),
    }
  } catch (error) {
    await sockets.disposeAsync()
    throw error
  }
}
