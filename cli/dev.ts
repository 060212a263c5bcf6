import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startChild } from './start/children.ts'
import { startReloading } from './start/reload.ts'
import { start } from './start.ts'

/**
 * `npm run dev`: what `npm start` does, for those who change Isobot itself. The api and the worker restart when one of
 * their sources is saved, and pages of the console, which are served from their sources, load themselves again.
 */
async function dev(): Promise<void> {
  const { values } = parseArgs({ options: { inspect: { type: 'boolean', default: false } } })
  const root = resolve(import.meta.dirname, '..')
  // What Node has compiled, and stripped of types, is there for the next start.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'node-compile')
  await start({
    development: {
      // These ports stay the same, so that a debugger finds a process again that was restarted.
      nodeOptions: (name) => (values.inspect ? [`--inspect=127.0.0.1:${name === 'api' ? 9229 : 9230}`] : []),
      startReloading: (name, launch) =>
        startReloading({
          name,
          folders: foldersOf[name].map((folder) => join(root, folder)),
          launch,
          // What opens a port has to be gone before its successor opens it.
          mayOverlap: name === 'worker' && !values.inspect && !process.env.METRICS_PORT,
        }),
      serveConsole: (apiUrl) =>
        startChild('console', [process.execPath, join(root, 'cli', 'start', 'console-server.ts'), apiUrl]),
    },
  })
}

/** Where the sources of each process are. */
const foldersOf = { api: ['api', 'shared'], worker: ['worker', 'sandbox', 'shared'] }

try {
  await dev()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
