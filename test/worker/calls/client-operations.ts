import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@botpress/client'

/**
 * The operations of the published client below these paths, by the requests that its methods send: every method is called,
 * and a server records the path.
 */
export async function operationsOfClient(paths: RegExp): Promise<string[]> {
  const found = new Set<string>()
  let method = ''
  const server = createServer((request, response) => {
    if (paths.test(request.url ?? '')) found.add(method)
    request.resume().once('end', () => response.end('{}'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const client = new Client({ apiUrl: `http://127.0.0.1:${port}`, token: 'any', botId: 'any' })
    for (method of methodsOf(client)) {
      // Without its parameters a method may fail after its request, or send none at all.
      await (client as unknown as Record<string, (input: object) => Promise<unknown>>)[method]!({}).catch(() => {})
    }
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return [...found].toSorted()
}

function methodsOf(client: object): Set<string> {
  const names = new Set<string>()
  for (let owner = client; owner !== Object.prototype; owner = Object.getPrototypeOf(owner) as object) {
    for (const name of Object.getOwnPropertyNames(owner)) {
      if (name !== 'constructor' && typeof (client as Record<string, unknown>)[name] === 'function') names.add(name)
    }
  }
  return names
}
