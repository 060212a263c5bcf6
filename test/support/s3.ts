import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import S3rver from '@20minutes/s3rver'
import { verifySignature } from './verify-signature.ts'

const bucket = 'contents'
const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }

/** An S3 server of the tests, with one bucket. */
export interface S3Server extends AsyncDisposable {
  /** The settings of a platform that uses it. */
  environment: NodeJS.ProcessEnv
  /** The keys in the bucket. */
  keys(): Promise<string[]>
  /** The keys of uploads in parts that were begun, and neither completed nor aborted. */
  uploads(): Promise<string[]>
  /** Method and URL of each request so far, and the names of its headers. */
  requests: { method: string; url: string; headers: string[] }[]
  /** Answers all requests with this status, until it is undefined again. */
  failure: number | undefined
  /** Answers a request in place of the server; false leaves it to the server. */
  instead: ((request: { method: string; url: URL }, outgoing: ServerResponse) => boolean) | undefined
  /** Called when a request is done, before its answer is passed on. */
  answered: ((request: { method: string }) => Promise<void>) | undefined
}

/**
 * Starts a server that stores objects in files, behind one that verifies the signature of every request, and that answers
 * the two operations on uploads in parts that the first one lacks.
 */
export async function startS3(): Promise<S3Server> {
  const parts = new AsyncDisposableStack()
  const directory = parts.adopt(await mkdtemp(join(tmpdir(), 'isobot-s3-')), (path) => rm(path, { recursive: true }))
  const store = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    resetOnClose: false,
    allowMismatchedSignatures: true,
    configureBuckets: [{ name: bucket }],
  })
  const { port } = await store.run()
  parts.defer(() => store.close())

  const requests: S3Server['requests'] = []
  const uploadsDirectory = join(directory, bucket, '._S3rver_uploads')
  const uploads = async () => {
    const ids = await readdir(uploadsDirectory).catch((): string[] => [])
    return Promise.all(ids.map(async (id) => ({ id, key: await readFile(join(uploadsDirectory, id, 'key'), 'utf8') })))
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', headers } = incoming
    const url = new URL(incoming.url ?? '', 'http://store')
    requests.push({ method, url: incoming.url ?? '', headers: Object.keys(headers) })
    if (server.failure !== undefined) return refuse(outgoing, server.failure, 'SlowDown')
    if (!verifySignature(incoming, credentials.secretAccessKey)) return refuse(outgoing, 403, 'SignatureDoesNotMatch')
    if (server.instead?.({ method, url }, outgoing)) return void incoming.resume()
    if (method === 'GET' && url.searchParams.has('uploads')) {
      const prefix = url.searchParams.get('prefix') ?? ''
      const found = (await uploads()).filter(({ key }) => key.startsWith(prefix))
      const list = found.map(({ id, key }) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`)
      return void outgoing.end(`<ListMultipartUploadsResult>${list.join('')}</ListMultipartUploadsResult>`)
    }
    if (method === 'DELETE' && url.searchParams.has('uploadId')) {
      await rm(join(uploadsDirectory, url.searchParams.get('uploadId')!), { recursive: true, force: true })
      return void outgoing.writeHead(204).end()
    }
    const forwarded = request({ port, host: '127.0.0.1', method, path: incoming.url, headers })
    const answered = once(forwarded, 'response') as Promise<[IncomingMessage]>
    answered.catch(() => {})
    await pipeline(incoming, forwarded)
    const [response] = await answered
    await server.answered?.({ method })
    outgoing.writeHead(response.statusCode!, response.headers)
    await pipeline(response, outgoing)
  }

  const front = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy())
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  parts.defer(async () => {
    front.closeAllConnections()
    front.close()
    await once(front, 'close')
  })

  const server: S3Server = {
    environment: {
      S3_BUCKET: bucket,
      S3_ENDPOINT: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
      S3_REGION: 'eu-central-1',
      S3_ACCESS_KEY_ID: credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    async keys() {
      const files = await readdir(join(directory, bucket))
      return files.flatMap((name) => /^(.*)\._S3rver_object$/.exec(name)?.[1] ?? [])
    },
    uploads: async () => (await uploads()).map(({ key }) => key),
    requests,
    failure: undefined,
    instead: undefined,
    answered: undefined,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
  return server
}

function refuse(outgoing: ServerResponse, status: number, code: string): void {
  outgoing.writeHead(status, { connection: 'close' }).end(`<Error><Code>${code}</Code></Error>`)
}
