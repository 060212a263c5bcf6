import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Site extends AsyncDisposable {
  /** Its origin, beside a platform on `localhost`: another port. */
  origin: string
  /** Another origin of the same pages: browsers that block cookies of third parties refuse storage to frames there. */
  foreignOrigin: string
}

/**
 * Serves a site of an origin of its own whose policy allows scripts and frames of one platform, and nothing else: no
 * inline style, no request. Its pages have the script that their query names (`?script=`), with the attributes of
 * `&attributes=`, and with `&isolated=1` they isolate themselves from other origins; `/calls.js` is what `&calls=` has, as a script of the site.
 */
export async function serveSite(platformUrl: string): Promise<Site> {
  const server = createServer((request, response) => {
    const { pathname, searchParams: query } = new URL(request.url!, 'http://site')
    if (pathname === '/calls.js') {
      return void response.setHeader('Content-Type', 'text/javascript').end(query.get('calls') ?? '')
    }
    const policy =
      `default-src 'none'; script-src 'self' ${platformUrl}; frame-src ${platformUrl}; ` +
      "style-src 'self'; img-src data:; require-trusted-types-for 'script'"
    const calls = query.get('calls')
    if (query.has('isolated')) response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp')
    response.setHeader('Content-Type', 'text/html; charset=utf-8').setHeader('Content-Security-Policy', policy)
      .end(`<!doctype html>
<html lang="${query.get('lang') ?? 'en'}" dir="${query.get('dir') ?? 'ltr'}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>A shop</title>
<h1>A shop</h1>
<main><p>Things to buy.</p><section id="chat"></section></main>
${calls === null ? '' : `<script src="/calls.js?calls=${encodeURIComponent(calls)}"></script>`}
<script src="${query.get('script')}" ${query.get('attributes') ?? ''} async></script>
</html>`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://localhost:${port}`,
    foreignOrigin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
