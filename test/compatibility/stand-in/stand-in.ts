import { execFile } from 'node:child_process'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'

/** A request to a service. */
export interface VendorRequest {
  method: string
  path: string
  query: URLSearchParams
  /** A form or JSON. */
  body: string
  /** The media type of the body. */
  type?: string | undefined
}

/** The answer of a service: JSON, a page, or a file. */
export type VendorAnswer = { json: unknown; status?: number } | { page: string } | { file: Uint8Array; type: string }

/** The services of vendors, by host. */
export type Vendors = Record<string, (request: VendorRequest) => VendorAnswer | Promise<VendorAnswer>>

export interface StandIn {
  /** Variables of processes that reach it at the vendors' names. */
  environment: NodeJS.ProcessEnv
  /** Arguments of a Chromium that reaches it at the vendors' names, and no other host than this machine. */
  browserArguments: string[]
  /** The requests that no service knows. */
  readonly unknown: string[]
}

/** Starts the services of vendors on this machine, with a certificate for their names. */
export async function startStandIn(vendors: Vendors, folder: string, parts: AsyncDisposableStack): Promise<StandIn> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const names = Object.keys(vendors).map((host) => `DNS:${host}`)
  const options = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=stand-in -addext subjectAltName=${names.join(',')}`
  await promisify(execFile)('openssl', [...options.split(' '), '-keyout', key, '-out', certificate])
  const unknown: string[] = []
  async function answer(host: string, request: VendorRequest): Promise<VendorAnswer> {
    const vendor = vendors[host]
    try {
      if (vendor) return await vendor(request)
    } catch (error) {
      unknown.push(`${host}: ${(error as Error).message}`)
    }
    return { json: { message: 'not found' }, status: 404 }
  }
  const server = createServer(
    { key: await readFile(key), cert: await readFile(certificate) },
    async (request, response) => {
      const { pathname: path, searchParams: query } = new URL(request.url!, 'https://vendor')
      const { method = 'GET', headers } = request
      const asked = { method, path, query, body: await text(request), type: headers['content-type'] }
      const given = await answer(String(headers.host), asked)
      const { type, body } = contentOf(given)
      response.writeHead('status' in given ? (given.status ?? 200) : 200, { 'content-type': type }).end(body)
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  parts.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const ports = Object.fromEntries(Object.keys(vendors).map((host) => [host, port]))
  const environment = {
    NODE_OPTIONS: `--import=${new URL('./reroute.ts', import.meta.url).href}`,
    // The certificate is its own authority.
    NODE_EXTRA_CA_CERTS: certificate,
    REROUTED_HOSTS: JSON.stringify(ports),
  }
  const mapped = Object.keys(vendors).map((host) => `MAP ${host} 127.0.0.1:${port}`)
  const rules = ['EXCLUDE localhost', ...mapped, 'MAP * ~NOTFOUND']
  return { environment, browserArguments: [`--host-resolver-rules=${rules.join(',')}`], unknown }
}

/** The body of an answer, and its media type. */
function contentOf(answer: VendorAnswer): { type: string; body: string | Uint8Array } {
  if ('page' in answer) return { type: 'text/html', body: answer.page }
  if ('file' in answer) return { type: answer.type, body: answer.file }
  return { type: 'application/json', body: JSON.stringify(answer.json) }
}
