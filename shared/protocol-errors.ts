import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { toReply, type Reply } from './dispatch.ts'
import { ApiError } from './errors.ts'

/** How long the remaining input is read and dropped, so that the client reads the answer before the connection ends. */
const lingerMilliseconds = 1000

/** Answers over plain HTTP on a bare connection, and ends the connection. */
export function refuseConnection(socket: Duplex, { status, headers, body }: Reply): void {
  const text = JSON.stringify(body)
  const lines = Object.entries({
    Connection: 'close',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`)
  // Closing a connection with unread input resets it, and the client loses the answer.
  socket.resume().once('end', () => socket.destroy())
  const linger = setTimeout(() => socket.destroy(), lingerMilliseconds)
  socket.once('close', () => clearTimeout(linger))
}

/**
 * Makes a server answer in the common error format where Node would answer without a body or not at all: parser errors,
 * timeouts, expectations and CONNECT requests.
 */
export function answerProtocolErrors(server: Server): void {
  /** The response in progress on each connection: a refusal must not be written into the middle of it. */
  const responses = new WeakMap<Duplex, ServerResponse>()
  const refused = new WeakSet<Duplex>()
  server.prependListener('request', (request, response) => responses.set(request.socket, response))

  server.on('clientError', (cause: NodeJS.ErrnoException, socket: Duplex) => {
    // A parser that has failed fails again with any further input.
    if (refused.has(socket)) return
    refused.add(socket)
    socket.on('error', () => {})
    if (cause.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const refuse = () => (socket.writable ? refuseConnection(socket, toReply(toApiError(cause))) : socket.destroy())
    const response = responses.get(socket)
    if (!response || response.closed || response.writableFinished) return refuse()
    // The error is in the body of the request that is being answered, or in the input after it.
    if (response.req.complete) return void response.once('close', refuse)
    if (response.headersSent) socket.destroy()
    else refuse()
  })

  server.on('checkExpectation', ({ socket }: IncomingMessage) => {
    const message = 'The header Expect supports only 100-continue: omit it'
    refuseConnection(socket, toReply(new ApiError('InvalidPayload', message, { status: 417 })))
  })

  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => {})
    refuseConnection(
      socket,
      toReply(new ApiError('MethodNotFound', 'CONNECT is not supported: this server is not a proxy')),
    )
  })
}

/**
 * Refuses a request that Node would refuse without a body (`requireHostHeader`).
 *
 * @throws ApiError `InvalidPayload` when a request of HTTP/1.1 has no Host header
 */
export function assertHost({ httpVersion, headers }: IncomingMessage): void {
  if (httpVersion !== '1.1' || headers.host !== undefined) return
  throw new ApiError('InvalidPayload', 'The header Host is missing: it is mandatory in HTTP/1.1')
}

interface ParserError extends NodeJS.ErrnoException {
  reason?: string
  rawPacket?: Buffer
}

function toApiError(cause: ParserError): ApiError {
  switch (cause.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('OperationTimeout', 'The request did not arrive in time: send it again', { status: 408 })
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ApiError('PayloadTooLarge', 'The chunk extensions are too long: omit them')
    case 'HPE_HEADER_OVERFLOW':
      return isInRequestLine(cause)
        ? new ApiError('InvalidPayload', 'The URL is too long: shorten its query', { status: 414 })
        : new ApiError('LimitExceeded', 'The URL and the headers exceed 16 KB: shorten them', {
            status: 431,
          })
    default:
      return new ApiError('InvalidPayload', `Invalid HTTP: ${cause.reason ?? cause.message}`)
  }
}

/** Whether the part that exceeded a limit is the request line, before the first header. */
function isInRequestLine({ rawPacket }: ParserError): boolean {
  return rawPacket !== undefined && /^[A-Z]+ /.test(rawPacket.toString('latin1', 0, 20)) && !rawPacket.includes('\n')
}
