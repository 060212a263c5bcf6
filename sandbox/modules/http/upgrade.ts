import type { Duplex } from 'stream'
import { codedError } from '../../prelude/node-errors.ts'
import type { OutgoingHeaders } from './headers.ts'

/** The answer of a server that was asked for another protocol. */
export interface UpgradeAnswer {
  status: number
  statusText: string
  headers: [string, string][]
  /** The bytes after the head: where the status is 101, the beginning of the other protocol. */
  rest: Buffer<ArrayBuffer>
}

const maxHeadBytes = 16_384

/** Whether a request asks the server to go on in another protocol, as WebSocket does. */
export function asksForUpgrade(method: string, headers: OutgoingHeaders): boolean {
  const connection = String(headers.get('connection') ?? '').toLowerCase()
  return method === 'GET' && headers.has('upgrade') && /(?:^|[\s,])upgrade(?:$|[\s,])/.test(connection)
}

/** The head of such a request. @throws TypeError for a path that is not one line of a request */
export function headOf(path: string, headers: OutgoingHeaders): Buffer {
  // A character of two bytes would be written as its lower one, which can be the end of a line.
  if (/[^\x21-\xff]/.test(path))
    throw codedError('ERR_UNESCAPED_CHARACTERS', 'Request path contains unescaped characters', TypeError)
  const lines = headers.toPairs().map(([name, value]) => `${name}: ${value}`)
  return Buffer.from([`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'), 'latin1')
}

/** Reads the head of the answer. Nothing else reads the socket until then. Rejects with an error of the socket, or of Node's parser. */
export function readAnswer(socket: Duplex): Promise<UpgradeAnswer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const settle = (act: () => void) => {
      socket.off('data', receive).off('error', fail).off('close', hangUp).off('end', hangUp)
      act()
    }
    const fail = (error: Error) => settle(() => reject(error))
    const hangUp = () => fail(codedError('ECONNRESET', 'socket hang up'))
    const receive = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      try {
        let answer = toAnswer(received)
        // Heads of status 1xx come before that of the answer.
        for (; answer && answer.status < 200 && answer.status !== 101; answer = toAnswer(received))
          received = answer.rest
        if (!answer) return
        // The next reader begins the flow again.
        Object.assign(socket, { readableFlowing: null })
        settle(() => resolve(answer))
      } catch (error) {
        fail(error as Error)
      }
    }
    socket.on('data', receive).on('error', fail).on('close', hangUp).on('end', hangUp)
  })
}

/** Undefined where the head is not complete. */
function toAnswer(received: Buffer<ArrayBuffer>): UpgradeAnswer | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end > maxHeadBytes || (end === -1 && received.length > maxHeadBytes))
    throw codedError('HPE_HEADER_OVERFLOW', 'Parse Error: Header overflow')
  if (end === -1) return undefined
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n')
  const [, digits, statusText = ''] = /^HTTP\/1\.[01] (\d{3})(?: ([^\0\r\n]*))?$/.exec(first) ?? []
  if (digits === undefined) throw codedError('HPE_INVALID_CONSTANT', 'Parse Error: Expected HTTP/')
  return { status: Number(digits), statusText, headers: lines.map(toHeader), rest: received.subarray(end + 4) }
}

function toHeader(line: string): [string, string] {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):[\t ]*([^\0\r\n]*?)[\t ]*$/.exec(line) ?? []
  if (name === undefined || value === undefined)
    throw codedError('HPE_INVALID_HEADER_TOKEN', 'Parse Error: Invalid header')
  return [name.toLowerCase(), value]
}

/** The body of an answer that is not 101: as many bytes as it says, or all until the server ends. */
export class RefusalBody {
  readonly #socket: Duplex
  readonly #parts: AsyncIterator<Uint8Array>
  #first: Uint8Array | undefined
  #left: number

  constructor(socket: Duplex, { headers, rest }: UpgradeAnswer) {
    const length = headers.find(([name]) => name === 'content-length')?.[1]
    this.#socket = socket
    this.#parts = socket[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
    this.#first = rest
    this.#left = length === undefined ? Infinity : Number(length)
    if (headers.some(([name]) => name === 'transfer-encoding')) this.#left = Number.NaN
  }

  async read(): Promise<Uint8Array | undefined> {
    if (Number.isNaN(this.#left))
      throw codedError(
        'ERR_METHOD_NOT_IMPLEMENTED',
        'The body of a refused upgrade is read only where its length is given',
      )
    const first = this.#first
    this.#first = undefined
    const part = first?.length
      ? first
      : this.#left > 0
        ? ((await this.#parts.next()).value as Uint8Array | undefined)
        : undefined
    const taken = part?.subarray(0, this.#left)
    this.#left -= taken?.length ?? 0
    if (!taken?.length) this.#socket.destroy()
    return taken?.length ? taken : undefined
  }

  cancel(): void {
    this.#socket.destroy()
  }
}
