import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Checks that nobody listens on a port, before anything is started that would have to be stopped again.
 * @throws Error that says what to do
 */
export async function assertPortIsFree(port: number, host: string): Promise<void> {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    throw new Error(
      `Port ${port} of ${host} is taken: stop the program that uses it, or choose another with PORT=3001 npm start`,
      {
        cause: error,
      },
    )
  }
  server.close()
  await once(server, 'close')
}
