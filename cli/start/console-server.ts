import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { createServer } from 'vite'
import { root } from '../../api/console/output.ts'
import { viteOptions } from '../../api/console/vite-options.ts'
import { untilParentGone } from '../../shared/process/parent-process.ts'

/**
 * A process of `npm run dev` that serves the console from its sources, on the port after the api's or the next free
 * one, and reloads open pages when a source is saved. It forwards all other requests to the api at `apiUrl`.
 */
async function serveConsole(apiUrl: string): Promise<void> {
  const { hostname, port } = new URL(apiUrl)
  const server = await createServer({
    ...viteOptions,
    cacheDir: resolve(process.env.ISOBOT_DATA_DIR ?? '.isobot', 'console'),
    clearScreen: false,
    plugins: [{ name: 'first-page', configureServer: ({ middlewares }) => void middlewares.use(takeFirstPage) }],
    server: {
      host: hostname,
      port: Number(port) + 1,
      // The pages import from folders outside the console's.
      fs: { allow: [root] },
      proxy: { '^/(?!console(/|\\?|$))': { target: apiUrl, ws: true } },
    },
  })
  await server.listen()
  const address = server.httpServer!.address() as AddressInfo
  console.log(`\nThe console from its sources: http://${hostname}:${address.port}/console`)
}

/** Rewrites `/console`, the address of the first page, because Vite serves only `/console/`. */
function takeFirstPage(request: IncomingMessage, _response: ServerResponse, next: () => void): void {
  request.url = request.url?.replace(/^\/console(?=$|\?)/, '/console/')
  next()
}

void untilParentGone().then(() => process.exit())
await serveConsole(process.argv[2]!)
