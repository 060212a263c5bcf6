import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Ports that no system gives to outgoing connections, of which a busy machine has thousands. */
const range = [10_000, 30_000] as const
const maxAttempts = 100

/**
 * A port of 127.0.0.1 that was free a moment ago. Another process may take it before its use, so the caller has to
 * retry with another port.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(...range)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch (error) {
      if (attempt === maxAttempts) throw error
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
