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
}

/** The answer of a service: JSON, or a page. */
export type VendorAnswer = { json: unknown; status?: number } | { page: string }

/** The services of vendors, by host. */
export type Vendors = Record<string, (request: VendorRequest) => VendorAnswer>

export interface StandIn {
  port: number
  /** The file with the certificate, which is its own authority. */
  certificate: string
  /** The requests that no service knows. */
  readonly unknown: string[]
  answer(host: string, request: VendorRequest): VendorAnswer
}

/** Starts the services of vendors on this machine, with a certificate for their names. */
export async function startStandIn(vendors: Vendors, folder: string, parts: AsyncDisposableStack): Promise<StandIn> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const names = Object.keys(vendors).map((host) => `DNS:${host}`)
  const options = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=stand-in -addext subjectAltName=${names.join(',')}`
  await promisify(execFile)('openssl', [...options.split(' '), '-keyout', key, '-out', certificate])
  const unknown: string[] = []
  function answer(host: string, request: VendorRequest): VendorAnswer {
    const vendor = vendors[host]
    try {
      if (vendor) return vendor(request)
    } catch (error) {
      unknown.push(`${host}: ${(error as Error).message}`)
    }
    return { json: { message: 'not found' }, status: 404 }
  }
  const server = createServer(
    { key: await readFile(key), cert: await readFile(certificate) },
    async (request, response) => {
      const { pathname: path, searchParams: query } = new URL(request.url!, 'https://vendor')
      const { method = 'GET' } = request
      const given = answer(String(request.headers.host), { method, path, query, body: await text(request) })
      const [type, body] =
        'page' in given ? ['text/html', given.page] : ['application/json', JSON.stringify(given.json)]
      response.writeHead('status' in given ? (given.status ?? 200) : 200, { 'content-type': type }).end(body)
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  parts.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, certificate, unknown, answer }
}
