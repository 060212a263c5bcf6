import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startChild } from './start/children.ts'
import { startReloading } from './start/reload.ts'
import { start } from './start.ts'

/**
 * `npm run dev`: `npm start` for developers of Isobot itself. The api and the worker restart when one of their sources
 * is saved; the console is served from its sources, and its pages reload.
 */
async function dev(): Promise<void> {
  const { values } = parseArgs({ options: { inspect: { type: 'boolean', default: false } } })
  const root = resolve(import.meta.dirname, '..')
  // Node keeps compiled and type-stripped modules for the next start.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'node-compile')
  await start({
    development: {
      // Fixed ports, so that a debugger reconnects to a restarted process.
      nodeOptions: (name) => (values.inspect ? [`--inspect=127.0.0.1:${name === 'api' ? 9229 : 9230}`] : []),
      startReloading: (name, launch) =>
        startReloading({
          name,
          folders: foldersOf[name].map((folder) => join(root, folder)),
          launch,
          // A process that opens a port must have exited before its successor opens that port.
          mayOverlap: name === 'worker' && !values.inspect && !process.env.METRICS_PORT,
        }),
      serveConsole: (apiUrl) =>
        startChild('console', [process.execPath, join(root, 'cli', 'start', 'console-server.ts'), apiUrl]),
    },
  })
}

/** The source folders of each process. */
const foldersOf = { api: ['api', 'shared'], worker: ['worker', 'sandbox', 'shared'] }

try {
  await dev()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
