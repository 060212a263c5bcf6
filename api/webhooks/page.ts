import { createHash } from 'node:crypto'
import escapeHtml from 'escape-html'
import type { WebhookReply } from './reply.ts'

const style = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { max-width: 32rem; margin: 15vh auto 0; padding: 0 1rem }
  h1 { font-size: 1.4rem }
  blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid GrayText; overflow-wrap: anywhere }
  button { font: inherit; padding: .5rem 1.25rem; cursor: pointer }
`
const styleHash = createHash('sha256').update(style).digest('base64')

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

export interface PageContent {
  paragraphs: string[]
  /** Text of others, shown as such. */
  quote?: string
  /** The label of a button that sends the page's address by POST. */
  button?: string
}

/** A page of the platform, without scripts. All texts are escaped. */
export function page(status: number, title: string, { paragraphs, quote, button }: PageContent): WebhookReply {
  const body = [
    `<h1>${escapeHtml(title)}</h1>`,
    ...paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`),
    ...(quote === undefined ? [] : [`<blockquote>${escapeHtml(quote)}</blockquote>`]),
    ...(button === undefined ? [] : [`<form method="post"><button>${escapeHtml(button)}</button></form>`]),
  ].join('\n')
  return {
    status,
    // Without a referrer to the own origin, browsers name no origin with the form.
    headers: button === undefined ? headers : { ...headers, 'referrer-policy': 'same-origin' },
    body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
<main>
${body}
</main>
</html>
`,
  }
}
