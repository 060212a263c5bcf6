import { runInContext, type Context } from 'node:vm'

/**
 * Uses the globals of the preludes in a context of this process as bundles of the public SDK do in an event: its client
 * makes a call of the platform over axios, which probes for streams first. V8 compiles the functions that take part, so the
 * code caches of the preludes include them.
 *
 * The preludes of the context depend on the bundle, so each global may be absent.
 *
 * @throws when the use fails, or does not end within the context's own microtasks
 */
export function rehearseUse(context: Context): void {
  const outcome = runInContext(use, context) as { error?: unknown; hasEnded: boolean }
  if (outcome.error !== undefined) throw outcome.error
  if (!outcome.hasEnded) throw new Error('The rehearsal of the preludes did not end')
}

const use = `(() => {
  const outcome = { hasEnded: false }
  const useBuffer = () => {
    if (typeof Buffer === 'function') Buffer.from(Buffer.from('{}').toString('base64'), 'base64').toString()
  }
  const useWeb = async () => {
    if (typeof fetch !== 'function') return
    const url = new URL('https://api.isobot.internal/v1/chat/messages?limit=1')
    new TextEncoder().encode(url.href + url.username + url.password + new URLSearchParams({ limit: '1' }))
    structuredClone({ list: [{}, new Date(0)] })
    const { signal } = new AbortController()
    const onAbort = () => {}
    signal.addEventListener('abort', onAbort)
    const headers = new Headers({ accept: 'application/json' })
    headers.set('content-type', 'application/json')
    const response = await fetch(new Request(url, { method: 'POST', headers, body: '{}', signal }))
    Object.fromEntries(response.headers)
    await useStreams(url, response.clone())
    await response.json()
    signal.removeEventListener('abort', onAbort)
  }
  const useStreams = async (url, response) => {
    if (typeof ReadableStream !== 'function') return
    const body = new ReadableStream()
    new Request(url, { method: 'POST', body, duplex: 'half' }).headers.has('content-type')
    await new Response(body).body.cancel()
    for await (const part of response.body) part.byteLength
    const parts = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('{}'))
        controller.close()
      },
    })
    await new Response(parts).text()
  }
  useBuffer()
  useWeb().then(
    () => { outcome.hasEnded = true },
    (error) => { outcome.error = error },
  )
  return outcome
})()`
