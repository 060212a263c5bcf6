import type { IncomingMessage, Server } from 'node:http'
import { maxUploadMilliseconds } from './files/chunks-in-time.ts'
import { announcedBytes } from './overload.ts'

/** Node's own limit for the arrival of a request. */
const usualMilliseconds = 300_000

/**
 * Limits the time in which the body of a request arrives. Node has one limit for all requests, which a large upload on a
 * slow line exceeds: it becomes that of uploads, which limit their idle time as well, and all others keep the usual one.
 */
export function limitArrival(server: Server, milliseconds = usualMilliseconds): void {
  server.requestTimeout = maxUploadMilliseconds
  server.prependListener('request', (request: IncomingMessage) => {
    if (announcedBytes(request) === 0 || request.url?.startsWith('/files/upload/')) return
    const timer = setTimeout(() => {
      const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      if (!request.complete) server.emit('clientError', error, request.socket)
    }, milliseconds)
    const stop = () => clearTimeout(timer)
    request.once('end', stop).once('close', stop)
  })
}
