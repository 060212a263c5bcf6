import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openMetrics } from '#shared/telemetry/metrics.ts'
import { limitConnections } from '../../api/connection-limit.ts'

/** Opens a server whose process may have so many open files. */
async function openServer(openFiles: number) {
  const lines: object[] = []
  const server = createServer((_request, response) => void response.end('served'))
  const metrics = openMetrics(false)
  limitConnections(server, { log: { error: (figures: object) => void lines.push(figures) }, metrics }, openFiles)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets: Socket[] = []
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    lines,
    metrics: () => metrics.registry.metrics(),
    /** Opens a connection, and makes a request on it. @returns the answer, or nothing when it is refused */
    async ask(socket = connect(port, '127.0.0.1')): Promise<string> {
      sockets.push(socket)
      socket.on('error', () => {})
      socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
      const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => [''])
      return answer instanceof Buffer ? String(answer) : ''
    },
    sockets,
  }
}

test('connections beyond the limit of open files are refused, counted and logged once, and the others are served', async () => {
  const server = await openServer(104)
  const answers = await Promise.all(Array.from({ length: 54 }, () => server.ask()))
  expect(answers.filter((answer) => answer.endsWith('served'))).toHaveLength(52)
  expect(answers.filter((answer) => answer === '')).toHaveLength(2)
  expect(server.lines).toEqual([{ refused: 1, connections: 52, openFiles: 104 }])
  expect(await server.metrics()).toContain('isobot_connection_refusals_total 2\n')
  const served = server.sockets[answers.findIndex((answer) => answer !== '')]
  expect(await server.ask(served)).toMatch(/served$/)
})
