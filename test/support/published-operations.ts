import { admin, billing, Client, files, runtime, tables } from '@botpress/client'

/** An operation as the published clients request it. */
export interface PublishedOperation {
  name: string
  method: string
  /** With `{parameter}` for each segment that the client fills in. */
  path: string
  /** The names of the fields that it sends in the query or the body. */
  fields: string[]
}

/** A request of the client. */
interface Sent {
  method: string
  url: string
  data?: object
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
    const requests: Sent[] = []
    client['axiosInstance'] = { request: async (request: Sent) => ({ data: requests.push(request) }) }
    for (const [name, method] of Object.entries(client)) {
      if (typeof method !== 'function' || composed.has(name)) continue
      await (method as (input: object) => Promise<unknown>)(namesAsValues)
      const { method: verb, url, data = {} } = requests.at(-1)!
      const [path = '', query] = url.split('?')
      const fields = [...new URLSearchParams(query).keys(), ...Object.keys(data)]
      found.set(name, { name, method: verb.toUpperCase(), path: decodeURIComponent(path), fields })
    }
  }
  return [...found.values()]
}

/** An input whose fields have their own names, in braces, as values. */
const namesAsValues = new Proxy({}, { get: (_target, name) => `{${String(name)}}` })
