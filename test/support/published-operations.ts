import { admin, billing, Client, files, runtime, tables } from '@botpress/client'

/** An operation as the published clients request it. */
export interface PublishedOperation {
  name: string
  method: string
  /** With `{parameter}` for each segment that the client fills in. */
  path: string
}

/** Made of other operations by the client. */
const composed = new Set(['uploadFile'])

/** Every operation of the installed `@botpress/client`, once for a name: each method is called, and its request kept. */
export async function publishedOperations(): Promise<PublishedOperation[]> {
  const props = { apiUrl: 'http://127.0.0.1', token: 'none', workspaceId: 'none', botId: 'none' }
  const clients = [Client, admin.Client, runtime.Client, files.Client, tables.Client, billing.Client]
  const found = new Map<string, PublishedOperation>()
  for (const Published of clients) {
    const client = new Published(props) as unknown as Record<string, unknown>
    const requests: { method: string; url: string }[] = []
    client['axiosInstance'] = {
      request: async (request: { method: string; url: string }) => ({ data: requests.push(request) }),
    }
    for (const [name, method] of Object.entries(client)) {
      if (typeof method !== 'function' || composed.has(name)) continue
      await (method as (input: object) => Promise<unknown>)(namesAsValues)
      const { method: verb, url } = requests.at(-1)!
      const path = decodeURIComponent(url.split('?')[0]!)
      found.set(name, { name, method: verb.toUpperCase(), path })
    }
  }
  return [...found.values()]
}

/** An input whose fields have their own names, in braces, as values. */
const namesAsValues = new Proxy({}, { get: (_target, name) => `{${String(name)}}` })
