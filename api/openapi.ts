import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Router, type RequestHandler } from 'express'
import type { Context } from '#shared/context.ts'
import { describeApi, describeChat, type OpenApiDocument } from '#shared/openapi/document.ts'
import { isPackaged } from '#shared/process/is-packaged.ts'
import { visitor } from './authenticate.ts'

const ownFiles = join(import.meta.dirname, 'docs')
// The published package has copies: `swagger-ui-dist` brings a script that reports each installation to its makers.
const rendererFiles = isPackaged
  ? join(ownFiles, 'renderer')
  : dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))

/** The files of the page, by directory. The renderer's package holds more files than the page needs. */
const files = new Map([
  ['accessibility.js', ownFiles],
  ['page.js', ownFiles],
  ['page.css', ownFiles],
  ['resolve.js', ownFiles],
  ['swagger-ui-bundle.js', rendererFiles],
  ['swagger-ui.css', rendererFiles],
  ['favicon-32x32.png', rendererFiles],
])

/** The page requests only this server. `data:` admits the pictures in the renderer's stylesheet. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** `/openapi.json`, the same for one chat at its own address, and `/docs`, a page that renders the former. */
export function openApi(context: Context): Router {
  const { baseUrl } = context.config.http
  let api: OpenApiDocument | undefined
  let chat: OpenApiDocument | undefined
  const router = Router()
  router.get('/openapi.json', (_request, response) => {
    response.json((api ??= describeApi(baseUrl)))
  })
  router.get('/chat/:webhookId/openapi.json', async (request, response) => {
    const { installation } = await visitor(context, request.params)
    chat ??= describeChat(baseUrl)
    response.json({ ...chat, servers: [{ url: `${baseUrl}/chat/${installation.webhook_id}` }] })
  })
  router.get('/docs', sendPage)
  router.get('/docs/:file', sendFile)
  return router
}

const sendPage: RequestHandler = (_request, response) => {
  response.set({
    'Content-Security-Policy': contentSecurityPolicy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  })
  response.sendFile('index.html', { root: ownFiles })
}

const sendFile: RequestHandler<{ file: string }> = (request, response, next) => {
  const root = files.get(request.params.file)
  if (root === undefined) return next()
  response.set('X-Content-Type-Options', 'nosniff')
  response.sendFile(request.params.file, { root })
}
