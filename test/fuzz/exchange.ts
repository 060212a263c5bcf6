import { Agent, request as open, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { FuzzRequest } from './requests.ts'

/** The result of a request: an answer, or the reason why there is none. */
export interface Outcome {
  status: number
  headers: IncomingMessage['headers']
  text: string
  /** Absent when there was an answer. */
  failure?: string
}

/** An answer that takes longer counts as missing: only code may take that long, and the fuzz's code does not. */
const hangMilliseconds = 30_000

/** Maximum number of bytes of an answer that are read. */
const maxAnswerBytes = 8 * 1024 * 1024

/** Sends a request over one of the agent's connections. Never rejects. */
export function sendRequest(
  port: number,
  agent: Agent,
  { method, path, headers, body }: FuzzRequest,
): Promise<Outcome> {
  return new Promise((resolve) => {
    let text = ''
    let response: IncomingMessage | undefined
    const end = (failure?: string) => {
      clearTimeout(timer)
      const { statusCode: status = 0, headers = {} } = response ?? {}
      resolve({ status, headers, text, ...(failure !== undefined && { failure }) })
    }
    const outgoing = open({ host: '127.0.0.1', port, agent, method, path, headers })
    const timer = setTimeout(() => {
      end('hangs')
      outgoing.destroy()
    }, hangMilliseconds)
    outgoing.on('error', (error) => end(response ? undefined : `no answer: ${error.message}`))
    outgoing.on('response', (incoming) => {
      response = incoming.setEncoding('utf8')
      // A stream does not end; its beginning counts as the answer. Lines that answer a GET are those of an inbox.
      const contentType = incoming.headers['content-type'] ?? ''
      if (contentType.startsWith('text/event-stream') || (method === 'GET' && contentType.includes('ndjson'))) {
        end()
        return void outgoing.destroy()
      }
      incoming.on('data', (part: string) => {
        text += part
        if (text.length > maxAnswerBytes) outgoing.destroy()
      })
      incoming.once('end', () => end())
    })
    outgoing.end(body)
  })
}

/** Sends bytes, ends its side, and reads all answers until the connection ends. Never rejects. */
export function sendBytes(port: number, bytes: string): Promise<Outcome> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    const end = (failure?: string) => {
      clearTimeout(timer)
      const head = received.slice(received.lastIndexOf('HTTP/1.1 '))
      const status = Number(head.split(' ')[1] ?? 0)
      resolve({ status, headers: {}, text: received, ...(failure !== undefined && { failure }) })
    }
    const timer = setTimeout(() => {
      end('hangs')
      socket.destroy()
    }, hangMilliseconds)
    socket.on('error', () => {})
    socket.on('data', (part: string) => (received += part))
    socket.once('close', () => end())
    socket.end(Buffer.from(bytes, 'latin1'))
  })
}

/** An answer that refuses the request for now, with the time of a retry. */
export function isDeliberate({ status, headers }: Outcome): boolean {
  return status === 503 && headers['retry-after'] !== undefined
}

/** The fault of an answer; undefined when there is none. */
export function faultOf(request: FuzzRequest, outcome: Outcome): string | undefined {
  const fault = faultOfExchange(request, outcome)
  const { status, headers, text } = outcome
  if (fault !== undefined || status < 400) return fault
  if (!headers['content-type']?.startsWith('application/json')) return `an error that is no JSON (${status})`
  return request.method === 'HEAD' ? undefined : faultOfBody(text)
}

/** The fault of an answer in any language. */
export function faultOfExchange({ forbidden }: FuzzRequest, outcome: Outcome): string | undefined {
  const { status, text, failure } = outcome
  if (failure !== undefined) return failure
  if (status >= 500 && !isDeliberate(outcome)) return `answered with ${status}`
  const foreign = forbidden.find((marker) => text.includes(marker))
  return foreign === undefined ? undefined : `foreign row: the answer holds ${foreign}`
}

/** The fault of all answers over one connection. None is correct where the client has closed its side first. */
export function faultOfBytes({ text, failure }: Outcome): string | undefined {
  if (failure !== undefined) return failure
  for (const answer of text.split(/(?=HTTP\/1\.1 \d{3} )/).filter(Boolean)) {
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    const status = Number(head.split(' ')[1])
    const isDeliberate = status === 503 && /\r\nretry-after:/i.test(head)
    if (!(status >= 100) || (status >= 500 && !isDeliberate)) return `answered with ${status}`
    if (status < 400) continue
    if (!/\r\ncontent-type: application\/json/i.test(head)) return `an error that is no JSON (${status})`
    const fault = body === '' ? undefined : faultOfBody(Buffer.from(body, 'latin1').toString())
    if (fault !== undefined) return fault
  }
  return undefined
}

function faultOfBody(text: string): string | undefined {
  try {
    const body = JSON.parse(text) as Record<string, unknown>
    const missing = ['id', 'code', 'type', 'message'].filter((field) => body[field] === undefined)
    return missing.length > 0 ? `an error without ${missing.join(', ')}` : undefined
  } catch {
    return 'an error whose body is no JSON'
  }
}
