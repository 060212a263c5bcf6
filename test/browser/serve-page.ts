import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'

const html = `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <link rel="icon" href="data:," />
  <title>Chat</title>
  <ol aria-label="Heard"></ol>
  <form><input aria-label="Message" autocomplete="off" disabled /></form>
  <script type="module" src="/page.js"></script>
</html>`

export interface ServedPage extends AsyncDisposable {
  origin: string
}

/**
 * Serves, from an origin of its own, a page that chats with the bot whose chat URL its query names (`?apiUrl=`). The
 * published client is bundled as a web developer would bundle it.
 *
 * @param entry the script of the page
 */
export async function servePage(entry = 'page.js'): Promise<ServedPage> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, entry)],
    bundle: true,
    write: false,
    outdir: '/',
    define: { 'process.env.NODE_ENV': '"production"' },
    format: 'esm',
    platform: 'browser',
    conditions: ['browser'],
    logLevel: 'error',
  })
  const textOf = (suffix: string) => outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? ''
  const page = html.replace('</title>', `</title><style>${textOf('.css')}</style>`)
  const server = createServer((request, response) => {
    const [type, body] = request.url === '/page.js' ? ['text/javascript', textOf('.js')] : ['text/html', page]
    response.setHeader('Content-Type', `${type}; charset=utf-8`).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
