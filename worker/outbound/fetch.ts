import { isUtf8 } from 'node:buffer'
import type {
  ByteSource,
  FetchAnswer,
  FetchConnection,
  FetchFailure,
  FetchRequest,
  FetchStream,
  HostFetch,
} from '#sandbox/protocol/contract.ts'
import type { ByteShare } from '#shared/byte-budget.ts'
import type { CodeLimits } from '#shared/config/code-limits.ts'
import { ResponseMemoryBudget } from './response-memory-budget.ts'
import type { Code } from '../code/bundles.ts'
import { readDecoded } from './decoded-body.ts'
import { openGrants, type FindGrant } from './grants.ts'
import { OutboundError } from './errors.ts'
import { redirectOf, type Method } from './redirects.ts'
import { hasHost } from './targets.ts'
import type { Outbound, OutboundResponse } from './open-outbound.ts'
import type { RequestStream } from './request-stream.ts'
import { readBeginning } from './response-body.ts'
import type { Context } from '#shared/context.ts'
import { megabyte } from '#shared/units.ts'
import { answerFileRequest, fileRequestOf, sentBy, type RequestContent } from './file-requests.ts'

/** A body up to this size is held whole, so that it can be sent again after a redirect. */
const wholeRequestBytes = megabyte

/** Upper bound of the body of a request. A larger one than can be held is sent while the code makes it. */
const maxRequestBytes = 100 * megabyte

/** Upper bound of a stream's memory: a part, a chunk and the connection's read-ahead. */
const streamBytes = 256 * 1024

/** The parts of an upload that are on their way, beside what its store holds. */
const contentBytes = 256 * 1024

/** The code that sends the requests. */
export interface Fetcher {
  botId: string
  code: Code
  limits: Pick<CodeLimits, 'fetchMilliseconds' | 'fetchMegabytes'>
}

/** Opens `fetch` for a run. */
export type OpenFetch = (fetcher: Fetcher) => HostFetch

type Needs = Context & { outbound: Outbound }

/** Shared by all requests of this process. */
interface Shared extends Needs {
  memory: ResponseMemoryBudget
  findGrant: FindGrant
}

/**
 * Prepares the outbound requests of bot code, which may address granted hosts only. A revoked grant takes effect at the
 * next request. An event that is handled again sends its requests again.
 */
export function prepareFetch(worker: Needs): OpenFetch {
  const shared = { ...worker, memory: new ResponseMemoryBudget(), findGrant: openGrants(worker.db) }
  return (fetcher) => openFetch(shared, fetcher)
}

function openFetch(worker: Shared, { botId, code, limits }: Fetcher): HostFetch {
  const installation = 'installation' in code ? code.installation : undefined
  const tenant = installation?.id ?? botId
  const findNet = async () => {
    const { net = worker.config.sandbox.net } = await worker.findGrant(botId, installation?.integration_id)
    return net
  }
  return async (request, signal) => {
    try {
      if (request.method === 'CONNECT')
        return await connect(worker, request, { tenant, net: await findNet(), signal }, limits)
      const file = fileRequestOf(worker, request)
      if (file) {
        const open: Open = (share, maxBytes) => {
          const hold = (bytes: number) => share.add(bytes + contentBytes)
          return answerFileRequest(worker, file, { ...contentOf(request), hold }, maxBytes)
        }
        return await send(worker, request, { tenant, open, signal }, limits)
      }
      const net = await findNet()
      if (isDiscarded(worker.config.outbound.discard, net, request.url)) return discarded(request.url)
      if (net.length === 0) throw nothingGranted(request.url, installation ? 'integration' : 'bot')
      const { fetchMilliseconds: timeoutMilliseconds } = limits
      const open: Open = async (share, maxResponseBytes) => {
        const body = await bodyOf(contentOf(request), share)
        return worker.outbound.request({
          tenant,
          allow: net,
          signal,
          url: request.url,
          // The guard refuses those that it does not know.
          method: request.method as Method,
          headers: { ...usualHeaders, 'accept-encoding': codingsFor(request), ...request.headers },
          ...(hasBody(request) && { body }),
          timeoutMilliseconds,
          maxResponseBytes,
          ...(request.redirect !== 'follow' && { maxRedirects: 0 }),
        })
      }
      return await send(worker, request, { tenant, open, signal }, limits)
    } catch (error) {
      return toFailure(worker, error)
    }
  }
}

/** Opens a connection, whose memory is counted. */
function connect(
  worker: Shared,
  { url, tls, content }: FetchRequest,
  { tenant, net, signal }: { tenant: string; net: string[]; signal: AbortSignal },
  { fetchMilliseconds, fetchMegabytes }: Fetcher['limits'],
): Promise<FetchConnection> {
  return worker.outbound.connect({
    url,
    tls: url.startsWith('tls:') ? (tls ?? {}) : undefined,
    content: content?.parts ?? noParts(),
    allow: net,
    timeoutMilliseconds: fetchMilliseconds,
    maxBytes: fetchMegabytes * megabyte,
    maxSentBytes: maxRequestBytes,
    signal,
    metrics: worker.metrics,
    hold() {
      using held = new DisposableStack()
      held.use(worker.memory.open(tenant)).add(streamBytes + contentBytes)
      return held.move()
    },
  })
}

async function* noParts(): AsyncGenerator<Uint8Array> {}

/** Sends a request, whose memory is counted, for a response of at most so many bytes. */
type Open = (share: ByteShare, maxBytes: number) => Promise<OutboundResponse>

async function send(
  worker: Shared,
  request: FetchRequest,
  { tenant, open, signal }: { tenant: string; open: Open; signal: AbortSignal },
  { fetchMegabytes }: Pick<Fetcher['limits'], 'fetchMegabytes'>,
): Promise<FetchAnswer | FetchStream> {
  const maxBytes = fetchMegabytes * megabyte
  using held = new DisposableStack()
  const share = held.use(worker.memory.open(tenant))
  const response = held.use(await open(share, maxBytes))
  const { status, statusText, url } = response
  if (request.redirect === 'error' && redirectOf(status, response.headers) !== undefined) {
    throw new OutboundError('too-many-redirects', `${new URL(url).host} redirects, and redirect is 'error'`)
  }
  const head = { status, statusText, url, headers: pairsOf(response.headers) }
  const decoded = readDecoded(response, maxBytes)
  if (!request.streams) return { ...head, ...toText(await collect(decoded, share)) }
  const { chunks, rest } = await readBeginning(request, response, decoded)
  if (!rest) return { ...head, ...toText(Buffer.concat(chunks)) }
  share.add(streamBytes)
  response.limitIdleness()
  return { ...head, parts: toSource(worker, chunks, rest, held.move(), signal) }
}

/**
 * The headers of Node's `fetch` where the code gives none: services such as GitHub and Wikipedia refuse requests without a
 * `user-agent`.
 */
const usualHeaders = { accept: '*/*', 'user-agent': 'node' }

/** Compression may delay the events of a stream. */
function codingsFor({ headers }: FetchRequest): string {
  const accept = Object.entries(headers).find(([name]) => name.toLowerCase() === 'accept')
  return accept?.[1].includes('text/event-stream') ? 'identity' : 'br, gzip, deflate'
}

async function collect(body: AsyncIterable<Buffer>, share: ByteShare): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of body) {
    share.add(chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function toText(bytes: Buffer): Pick<FetchAnswer, 'body' | 'isBase64'> {
  const isBase64 = !isUtf8(bytes)
  return { body: bytes.toString(isBase64 ? 'base64' : 'utf8'), isBase64 }
}

/**
 * @param held released when the body has been read or is no longer needed
 * @param signal reports that it is no longer needed, which a generator does not notice before its first `next`
 */
function toSource(
  worker: Needs,
  chunks: Buffer[],
  rest: AsyncIterable<Buffer>,
  held: DisposableStack,
  signal: AbortSignal,
): ByteSource {
  const letGo = () => held.dispose()
  signal.addEventListener('abort', letGo, { once: true })
  if (signal.aborted) letGo()
  return (async function* () {
    try {
      yield* chunks
      yield* rest
    } catch (error) {
      yield toFailure(worker, error)
    } finally {
      signal.removeEventListener('abort', letGo)
      letGo()
    }
  })()
}

function hasBody({ body, content }: FetchRequest): boolean {
  return body !== undefined || content !== undefined
}

/** The body of a request, which may come in parts; empty where there is none. */
function contentOf({ body, isBase64, content }: FetchRequest): RequestContent {
  if (content) return { length: content.bytes, chunks: content.parts }
  const bytes = Buffer.from(body ?? '', isBase64 ? 'base64' : 'utf8')
  return { length: bytes.length, chunks: [bytes] }
}

/**
 * Reads a body that can be held whole; of a longer one, the beginning.
 *
 * @throws OutboundError `too-large`, before any part is asked for where the length is known
 */
async function bodyOf(content: RequestContent, share: ByteShare): Promise<Uint8Array | RequestStream> {
  const { length } = content
  if (length !== undefined && length > maxRequestBytes) throw tooLarge()
  const rest = sentBy(content)
  const beginning: Uint8Array[] = []
  for (let bytes = 0; bytes <= wholeRequestBytes;) {
    const { done, value } = await rest.next()
    if (done) return Buffer.concat(beginning)
    share.add(value.length)
    beginning.push(value)
    bytes += value.length
  }
  share.add(contentBytes)
  return { length, chunks: upToMaximum(beginning, rest) }
}

async function* upToMaximum(beginning: Uint8Array[], rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for (const chunk of beginning.splice(0)) {
    bytes += chunk.length
    yield chunk
  }
  for await (const chunk of rest) {
    bytes += chunk.length
    if (bytes > maxRequestBytes) throw tooLarge()
    yield chunk
  }
}

function tooLarge(): OutboundError {
  return new OutboundError(
    'too-large',
    `The body of the request has more than ${maxRequestBytes} bytes, the maximum: send larger contents as files of the bot`,
  )
}

/**
 * Whether a request is answered without being sent: libraries that report usage wait and try again for seconds when they are
 * refused, and the work that they report of waits for them.
 */
function isDiscarded(discard: string[], granted: string[], address: string): boolean {
  const url = URL.parse(address)
  return url !== null && hasHost(discard, url) && !hasHost(granted, url)
}

function discarded(url: string): FetchAnswer {
  return { status: 204, statusText: 'Discarded', url, headers: [], body: '', isBase64: false }
}

function pairsOf(headers: OutboundResponse['headers']): FetchAnswer['headers'] {
  return Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value) => [name, value] as const))
}

function nothingGranted(url: string, whose: 'bot' | 'integration'): OutboundError {
  const host = URL.parse(url)?.hostname || 'the host'
  const operation = whose === 'bot' ? 'updateBot (for a CLI project, in isobot.json)' : 'updateIntegration'
  return new OutboundError(
    'forbidden',
    `${host} may not be requested: permissions.net of the ${whose} grants no hosts. Add permissions: { net: ['${host}'] } with ${operation}`,
  )
}

function toFailure({ log }: Needs, error: unknown): FetchFailure {
  if (error instanceof OutboundError) return { failure: error.reason, message: error.message }
  log.error({ err: error }, 'An outbound request of bot code failed')
  return { failure: 'internal', message: 'The platform failed to send the request: try again later' }
}
