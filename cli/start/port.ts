import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Checks that no process listens on a port, before other parts start.
 * @throws Error with a remedy
 */
export async function assertPortIsFree(port: number, host: string): Promise<void> {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    throw new Error(
      `Port ${port} of ${host} is in use: stop the program that uses it, or choose another port, for instance with --port 3001 or PORT=3001`,
      {
        cause: error,
      },
    )
  }
  server.close()
  await once(server, 'close')
}
