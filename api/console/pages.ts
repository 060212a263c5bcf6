import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Router } from 'express'
import { notFound } from '#shared/errors.ts'
import { outputDirectory } from './output.ts'
import { immutable, sendCompressed } from './send-file.ts'

/**
 * The pages request only this server, and run only its scripts. Inline styles are allowed because the editor positions
 * each line of code with them; pictures and media may come from any https address, because bots' messages name them.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data: https:",
  "media-src 'self' https:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  // The preview of a web chat.
  "frame-src 'self'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/**
 * `/console`: the pages in which users administer their bots.
 *
 * @param directory output of `npm run build` and `npm start`
 */
export function consolePages(directory = outputDirectory): Router {
  const assets = join(directory, 'assets')
  const router = Router()
  // Redirects browsers that open the platform's address.
  router.get('/', (_request, response) => response.redirect('/console'))
  router.get('/console/assets/:file', async (request, response, next) => {
    const { file } = request.params
    // Only names of this list are served, so that no spelling of a name leads out of the directory.
    const names = await readdir(assets).catch((): string[] => [])
    if (!names.includes(file)) return next()
    response.set(immutable)
    sendCompressed(request, response, assets, file, names.includes(`${file}.gz`))
  })
  router.get(['/console', '/console/{*page}'], async (request, response, next) => {
    if (request.path.startsWith('/console/assets/')) return next()
    await access(join(directory, 'index.html')).catch((cause: unknown) => {
      throw notFound('Console', 'it is not built on this server; run "npm run build" there', { cause })
    })
    response.set(headers)
    sendCompressed(request, response, directory, 'index.html', false)
  })
  return router
}
