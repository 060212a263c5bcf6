import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A published package. */
interface Package {
  manifest: { name: string; version: string; dependencies?: Record<string, string> }
  archive: Buffer
}

export interface PackageRegistry extends AsyncDisposable {
  url: string
  /** The paths of all requests. */
  readonly requests: string[]
}

/** Starts a registry for npm that has these packages; it redirects requests for others to the registry that npm uses otherwise. */
export async function openPackageRegistry(packages: Package[]): Promise<PackageRegistry> {
  const { stdout } = await run('npm', ['config', 'get', 'registry'])
  const requests: string[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    requests.push(path)
    const found = packages.find(({ manifest: { name } }) => path === `/${name}` || path === archivePath(name))
    if (!found) return void response.writeHead(307, { location: new URL(request.url!, stdout.trim()).href }).end()
    if (path === archivePath(found.manifest.name)) return void response.end(found.archive)
    const { name, version } = found.manifest
    const integrity = `sha512-${createHash('sha512').update(found.archive).digest('base64')}`
    const dist = { integrity, tarball: `${url}${archivePath(name)}` }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: { ...found.manifest, dist } } }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    requests,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function archivePath(name: string): string {
  return `/${name}/-/archive.tgz`
}
