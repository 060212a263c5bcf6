import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { keepServer, runSupervisor } from '../../cli/postgres/keep-server.ts'

/** Supervises one Redis for tests: runs it without persistence, and removes its files. */
async function main(): Promise<void> {
  const [command, directory, port, cluster] = process.argv.slice(2) as [string, string, string, string]
  try {
    await keepServer({
      name: 'Redis',
      command,
      parameters: (listeningPort) => Object.entries(settings(listeningPort, directory, cluster)).flat(),
      ...(port !== '0' && { port: Number(port) }),
      // Another server may have taken the port in the meantime, so the answer must come from this one.
      isReady: async ({ pid, port }) => (await ask(port, 'INFO server')).includes(`process_id:${pid}\r\n`),
      endSignals: ['SIGTERM', 'SIGKILL'],
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function settings(port: number, directory: string, cluster: string) {
  return {
    '--port': String(port),
    '--bind': '127.0.0.1',
    '--save': '',
    '--appendonly': 'no',
    '--dir': directory,
    '--cluster-enabled': cluster,
  }
}

async function ask(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.end(`${command}\r\nQUIT\r\n`)
  return text(socket).catch(() => '')
}

await runSupervisor(main)
