import { readFile, readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import escapeHtml from 'escape-html'
import { Router, type Request, type Response } from 'express'
import type { Context } from '#shared/context.ts'
import { notFound } from '#shared/errors.ts'
import { appearanceOf } from '#shared/models/webchat-appearance.ts'
import { frameAncestorsOf, webchatConfigurationOf } from '#shared/models/webchat-configuration.ts'
import { findWebchat } from '../authenticate.ts'
import { namesOf, webchatBrowsers } from '../console/browsers.ts'
import { immutable, sendCompressed } from '../console/send-file.ts'
import { outputDirectory } from '../console/output.ts'

/**
 * The frame requests only the addresses of web chats and files, of this server, and runs only its scripts. Pictures and media may come from any address, because
 * bots' messages name them. Trusted Types refuse what would make a text into a document.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src https: http: data:',
  'media-src https: http: data:',
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
]

/** How long pages may use a script with an appearance that has changed since. */
const scriptSeconds = 60

/**
 * `/webchat/{webhookId}/inject.js`, the script for pages; `…/frame`, the chat that it shows in them; `…/chat`, the same as a
 * page of its own. None of them stores anything.
 *
 * @param directory output of `npm run build` and `npm start`
 */
export function widget(context: Context, directory = join(outputDirectory, 'widget')): Router {
  const router = Router()

  router.get('/assets/:file', async (request, response, next) => {
    const { file } = request.params
    const names = await readdir(directory).catch((): string[] => [])
    // The script for pages has no hash in its name, and is nothing without an appearance.
    if (!names.includes(file) || !file.startsWith('frame-')) return next()
    response.set(immutable)
    sendCompressed(request, response, directory, file, names.includes(`${file}.gz`))
  })

  router.get('/:webhookId/inject.js', async (request, response) => {
    const { configuration } = await findWebchat(context, request.params.webhookId)
    const script = await readFile(join(directory, 'inject.js'), 'utf8').catch((cause: unknown) => {
      throw notBuilt(cause)
    })
    const appearance = JSON.stringify(appearanceOf(configuration)).replaceAll('<', String.raw`\u003c`)
    response.set({
      'Cache-Control': `public, max-age=${scriptSeconds}`,
      // Pages that isolate themselves load only what allows it.
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
    })
    await sendScript(request, response, `{const ISOBOT_APPEARANCE=${appearance};${script}}`)
  })

  router.get('/:webhookId/:page', async (request, response, next) => {
    const { webhookId, page } = request.params
    if (page !== 'frame' && page !== 'chat') return next()
    const installation = await findWebchat(context, webhookId)
    const names = await readdir(directory).catch((cause: unknown) => {
      throw notBuilt(cause)
    })
    const ancestors = frameAncestorsOf(webchatConfigurationOf(installation))
    response.type('html').set({
      'Cache-Control': 'no-cache',
      'Content-Security-Policy': [
        ...contentSecurityPolicy,
        connectSource(request),
        `frame-ancestors ${ancestors.join(' ')}`,
      ].join('; '),
      // Such pages also show only frames that isolate themselves. Pictures of other servers are loaded without their cookies.
      'Cross-Origin-Embedder-Policy': 'credentialless',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'X-Robots-Tag': 'noindex',
    })
    const appearance = JSON.stringify(appearanceOf(installation.configuration))
    response.end(frameHtml(names, appearance, page === 'chat' ? outdated : ''))
  })

  return router
}

/**
 * The addresses that the frame requests. Those of the console's session are not among them, which has the same origin.
 * The scheme is that of the page.
 */
function connectSource({ headers: { host = '' } }: Request): string {
  const own = URL.canParse(`http://${host}`) && new URL(`http://${host}`).host === host ? host : "'none'"
  return `connect-src ${own === host ? `${host}/webchat/ ${host}/files/` : own}`
}

/** Shown after some seconds, until the script takes its place. A page around the frame says itself that there is no chat. */
const outdated = `<p class="outdated">The chat is loading. If it does not appear, this browser is too old for it:
it needs ${namesOf(webchatBrowsers)}, or a newer version.</p>`

/**
 * The page of the frame. Its script reads the appearance from an attribute: the policy allows no script in the page.
 *
 * @param content of the page until its script runs
 */
function frameHtml(names: string[], appearance: string, content: string): string {
  const find = (suffix: string) => names.find((name) => name.startsWith('frame-') && name.endsWith(suffix))
  const [script, style] = [find('.js'), find('.css')]
  if (!script || !style) throw notBuilt()
  return `<!doctype html>
<html data-appearance="${escapeHtml(appearance)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<title>Chat</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/webchat/assets/${style}">
<script type="module" src="/webchat/assets/${script}"></script>
</head>
<body>${content}</body>
</html>
`
}

function notBuilt(cause?: unknown): Error {
  return notFound('Widget', 'it is not built on this server; run "npm run build" there', { cause })
}

async function sendScript(request: Request, response: Response, script: string): Promise<void> {
  response.type(extname('inject.js')).vary('Accept-Encoding')
  if (request.acceptsEncodings('gzip') !== 'gzip') return void response.end(script)
  response.set('Content-Encoding', 'gzip').end(await promisify(gzip)(script))
}
