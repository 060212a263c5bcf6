import { readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { Router, type Request, type Response } from 'express'
import type { Logger } from '#shared/telemetry/logger.ts'
import { openBackgroundBuild } from './background-build.ts'
import { placeholder } from './placeholder.ts'

/**
 * The pages ask this server and nobody else, and run no script but its own. Styles may stand in elements, because the
 * editor places every line of code so; pictures and sounds come from wherever a bot's messages say.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data: https:",
  'media-src https:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/** Names change with the content. */
const immutable = { 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff' }

export interface Console {
  router: Router
  /** Ends a build that is under way. */
  close(): void
}

/**
 * `/console`: the pages by which people look after their bots. They are built when somebody first asks for them, unless
 * that was done before; meanwhile a short page says so and loads itself again.
 */
export function openConsole(log: Logger): Console {
  const build = openBackgroundBuild(log)
  /** What is served: that of the page that was last asked for. */
  let current: { directory: string; assets: Set<string> } | undefined

  async function find(): Promise<Exclude<typeof current, undefined> | 'building' | 'failed'> {
    const built = await build.find()
    if (built.state !== 'built') return built.state
    if (current?.directory === built.directory) return current
    current = { directory: built.directory, assets: new Set(await readdir(join(built.directory, 'assets'))) }
    return current
  }

  const router = Router()
  // A browser that opens the platform's address is sent to the console.
  router.get('/', (_request, response) => response.redirect('/console'))
  router.get('/console/assets/:file', async (request, response, next) => {
    const found = current ?? (await find())
    const { file } = request.params
    // The list is what may be asked for: a name of anything else, however it is written, is not in it.
    if (typeof found === 'string' || !found.assets.has(file)) return next()
    response.set(immutable)
    sendCompressed(request, response, join(found.directory, 'assets'), file, found.assets.has(`${file}.gz`))
  })
  router.get(['/console', '/console/{*page}'], async (request, response, next) => {
    if (request.path.startsWith('/console/assets/')) return next()
    response.set(headers)
    const found = await find()
    if (typeof found !== 'string') return sendCompressed(request, response, found.directory, 'index.html', false)
    response.status(503).set('Retry-After', '2').type('html').send(placeholder(found))
  })
  return { router, close: () => build.close() }
}

/** Sends a file, or the compressed copy beside it to those who take it. */
function sendCompressed(request: Request, response: Response, root: string, file: string, isCompressed: boolean): void {
  response.type(extname(file)).vary('Accept-Encoding')
  const takesCompressed = isCompressed && request.acceptsEncodings('gzip') === 'gzip'
  if (takesCompressed) response.set('Content-Encoding', 'gzip')
  response.sendFile(takesCompressed ? `${file}.gz` : file, { root, cacheControl: false, acceptRanges: false })
}
