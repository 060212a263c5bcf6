import type { Imports, SyncProgram } from '../web-assembly.ts'

/** Codes of llhttp. */
const ok = 0
const expectedLineFeed = 3
const unexpectedLength = 4
const closedConnection = 5
const invalidHeader = 10
const invalidLength = 11
const invalidChunk = 12
const invalidVersion = 8
const invalidStatus = 13
const invalidEnd = 14
const paused = 21
const pausedForUpgrade = 22
const byUser = 24
const expectedReturn = 25

const lineFeed = 10
const carriageReturn = 13
const colon = 58
const space = 32
const tab = 9

/** Upper bound of the characters of a line that are kept here: version, status, name or value of a header, size of a chunk. */
const maxKept = 16 * 1024

const versions = ['HTTP/1.1', 'HTTP/1.0'] as const

/** Where the memory has the input; what is below is free for the reason of an error. */
const inputAddress = 1024
const reasonAddress = 8

type Callback = (parser: number, ...values: number[]) => number
type Callbacks = Record<string, Callback>

type State =
  | 'start'
  | 'version'
  | 'status'
  | 'reason'
  | 'line'
  | 'name'
  | 'before value'
  | 'value'
  | 'body'
  | 'body to the end'
  | 'chunk size'
  | 'chunk extension'
  | 'chunk'
  | 'after chunk'
  | 'whole'
  | 'closed'
  | 'upgraded'

/**
 * The parser of responses in HTTP/1.1 that `undici` has as a program in WebAssembly, for its own agents, clients and pools. It calls back
 * with the places of names, values and parts of the body in the input, and is strict: one length, and no other end of a line than a
 * line feed with or without a carriage return.
 */
class ResponseParser {
  #state: State = 'start'
  #kept = ''
  #name = ''
  #minor = 1
  #status = 0
  #length: number | undefined
  #isChunked = false
  #isClosed = false
  #isKept = false
  #isUpgrade = false
  #hasUpgrade = false
  #isTrailer = false
  #staysOpen = true
  #left = 0
  /** Behind a carriage return: what follows the line feed. */
  #endLine: (() => number) | undefined
  /** Nothing of the text has been passed: an empty one has a callback too. */
  #isFirst = false
  /** The place of the input where the parser has stopped. */
  position = 0
  reason = ''

  readonly #number: number
  readonly #callbacks: Callbacks

  constructor(number: number, callbacks: Callbacks) {
    this.#number = number
    this.#callbacks = callbacks
  }

  /** @returns a code of llhttp */
  execute(input: Uint8Array): number {
    let index = 0
    let code = this.#state === 'whole' ? this.#complete() : ok
    while (index < input.length && code === ok) [index, code] = this.#step(input, index)
    this.position = inputAddress + index
    return code
  }

  /** The connection has ended. */
  finish(): number {
    if (this.#state === 'body to the end') return this.#complete()
    return this.#state === 'start' || this.#state === 'closed' ? ok : this.#fail(invalidEnd, 'Invalid EOF state')
  }

  #step(input: Uint8Array, index: number): [next: number, code: number] {
    const byte = input[index]!
    const endLine = this.#endLine
    if (endLine) {
      if (byte !== lineFeed) return [index, this.#fail(expectedLineFeed, 'Expected LF after CR')]
      this.#endLine = undefined
      return [index + 1, endLine()]
    }
    switch (this.#state) {
      case 'whole':
        return [index, this.#complete()]
      case 'start':
        if (byte === carriageReturn || byte === lineFeed) return [index + 1, ok]
        this.#begin()
        return [index, this.#tell('wasm_on_message_begin')]
      case 'upgraded':
        return [index, pausedForUpgrade]
      case 'closed':
        if (byte === carriageReturn || byte === lineFeed) return [index + 1, ok]
        return [index, this.#fail(closedConnection, 'Data after `Connection: close`')]
      case 'version':
        return [index + 1, this.#readVersion(byte)]
      case 'status':
        return this.#readStatus(byte, index)
      case 'reason':
        return this.#span(input, index, 'wasm_on_status')
      case 'line':
        return this.#beginLine(byte, index)
      case 'name':
        return this.#readName(input, index)
      case 'before value':
        if (byte === space || byte === tab) return [index + 1, ok]
        this.#state = 'value'
        this.#kept = ''
        this.#isFirst = true
        return [index, ok]
      case 'value':
        return this.#span(input, index, 'wasm_on_header_value')
      case 'body':
      case 'chunk':
        return this.#readBody(input, index)
      case 'body to the end':
        return [input.length, this.#tell('wasm_on_body', inputAddress + index, input.length - index)]
      case 'chunk size':
        return this.#readChunkSize(byte, index)
      case 'chunk extension':
        if (byte === lineFeed) return [index, this.#fail(expectedReturn, 'Expected CR after chunk size')]
        return byte === carriageReturn ? this.#end(index, () => this.#beginChunk()) : [index + 1, ok]
      case 'after chunk':
        if (byte !== carriageReturn) return [index, this.#fail(invalidChunk, 'Expected CR after chunk data')]
        return this.#end(index, () => this.#go('chunk size'))
    }
  }

  #begin(): void {
    this.#state = 'version'
    this.#kept = ''
    this.#status = 0
    this.#length = undefined
    this.#isChunked = false
    this.#isClosed = false
    this.#isKept = false
    this.#isUpgrade = false
    this.#hasUpgrade = false
    this.#isTrailer = false
  }

  #readVersion(byte: number): number {
    if (byte === space && this.#kept.length === versions[0].length) {
      this.#minor = Number(this.#kept.at(-1))
      this.#kept = ''
      return this.#go('status')
    }
    this.#kept += String.fromCharCode(byte)
    return versions.some((version) => version.startsWith(this.#kept))
      ? ok
      : this.#fail(invalidVersion, 'Expected HTTP/1.x')
  }

  #readStatus(byte: number, index: number): [number, number] {
    if (byte >= 48 && byte <= 57 && this.#kept.length < 3) {
      this.#kept += String.fromCharCode(byte)
      return [index + 1, ok]
    }
    if (this.#kept.length !== 3 || (byte !== space && !isEnd(byte))) {
      return [index, this.#fail(invalidStatus, 'Invalid status code')]
    }
    this.#status = Number(this.#kept)
    this.#kept = ''
    this.#isFirst = byte === space
    this.#state = 'reason'
    return [byte === space ? index + 1 : index, ok]
  }

  /** Passes a text that goes to the end of its line, part by part. */
  #span(input: Uint8Array, index: number, callback: string): [number, number] {
    let end = index
    const isValue = this.#state === 'value'
    while (end < input.length && !isEnd(input[end]!)) {
      if (isControl(input[end]!)) return [end, this.#fail(invalidHeader, 'Invalid character in a line')]
      end += 1
    }
    if (isValue && !this.#keep(input, index, end)) return [index, this.#fail(invalidHeader, 'Header overflow')]
    const isEmpty = this.#isFirst && end < input.length
    const code = end > index || isEmpty ? this.#tell(callback, inputAddress + index, end - index) : ok
    this.#isFirst = false
    if (code !== ok || end === input.length) return [end, code]
    if (input[end] === lineFeed) return [end, this.#fail(expectedReturn, 'Expected CR before LF')]
    return this.#end(end, () => {
      const read = isValue && !this.#isTrailer
      const refused = read ? this.#readHeader(this.#name, this.#kept.trim().toLowerCase()) : ok
      return refused || this.#go('line')
    })
  }

  /** Goes on behind the line feed that has to follow a carriage return. */
  #end(index: number, endLine: () => number): [number, number] {
    this.#endLine = endLine
    return [index + 1, ok]
  }

  #go(state: State): number {
    this.#state = state
    return ok
  }

  #beginLine(byte: number, index: number): [number, number] {
    if (byte === carriageReturn)
      return this.#end(index, () => (this.#isTrailer ? this.#complete() : this.#endHeaders()))
    if (byte === space || byte === tab)
      return [index, this.#fail(invalidHeader, 'Unexpected space at the start of a line')]
    this.#state = 'name'
    this.#kept = ''
    return [index, ok]
  }

  #readName(input: Uint8Array, index: number): [number, number] {
    let end = index
    while (end < input.length && input[end] !== colon) {
      if (!isOfName(input[end]!)) return [end, this.#fail(invalidHeader, 'Invalid header token')]
      end += 1
    }
    if (!this.#keep(input, index, end)) return [index, this.#fail(invalidHeader, 'Header overflow')]
    const code = end > index ? this.#tell('wasm_on_header_field', inputAddress + index, end - index) : ok
    if (code !== ok || end === input.length) return [end, code]
    if (this.#kept === '') return [end, this.#fail(invalidHeader, 'Invalid header token')]
    this.#name = this.#kept.toLowerCase()
    this.#state = 'before value'
    return [end + 1, ok]
  }

  #readHeader(name: string, value: string): number {
    if (name === 'content-length') {
      if (this.#length !== undefined || this.#isChunked)
        return this.#fail(unexpectedLength, 'Content-Length already present')
      if (!/^\d{1,15}$/.test(value)) return this.#fail(invalidLength, 'Invalid character in Content-Length')
      this.#length = Number(value)
    } else if (name === 'transfer-encoding') {
      if (this.#length !== undefined) return this.#fail(unexpectedLength, 'Transfer-Encoding with Content-Length')
      this.#isChunked = value.split(',').at(-1)!.trim() === 'chunked'
    } else if (name === 'upgrade') {
      this.#hasUpgrade = true
    } else if (name === 'connection') {
      const tokens = value.split(',').map((token) => token.trim())
      this.#isClosed ||= tokens.includes('close')
      this.#isKept ||= tokens.includes('keep-alive')
      this.#isUpgrade ||= tokens.includes('upgrade')
    }
    return ok
  }

  #endHeaders(): number {
    const isUpgrade = this.#isUpgrade && this.#hasUpgrade && this.#status === 101
    const hasNone = this.#status < 200 || this.#status === 204 || this.#status === 304
    const isToTheEnd = !hasNone && !this.#isChunked && this.#length === undefined
    const persists = this.#minor === 1 ? !this.#isClosed : this.#isKept
    this.#staysOpen = persists && !isToTheEnd
    const answer = this.#callbacks['wasm_on_headers_complete']!(
      this.#number,
      this.#status,
      Number(isUpgrade),
      Number(this.#staysOpen),
    )
    if (answer < 0) return this.#fail(byUser, 'User callback error')
    if (answer === 2 || this.#status === 101) {
      const code = this.#tell('wasm_on_message_complete')
      this.#state = 'upgraded'
      return code || pausedForUpgrade
    }
    if (answer === 1 || hasNone || this.#length === 0) {
      this.#state = 'whole'
      return answer === paused ? paused : this.#complete()
    }
    this.#left = this.#length ?? 0
    this.#kept = ''
    this.#state = this.#isChunked ? 'chunk size' : isToTheEnd ? 'body to the end' : 'body'
    return answer === paused ? paused : ok
  }

  #readBody(input: Uint8Array, index: number): [number, number] {
    const end = Math.min(input.length, index + this.#left)
    this.#left -= end - index
    const code = this.#tell('wasm_on_body', inputAddress + index, end - index)
    if (this.#left > 0) return [end, code]
    if (this.#state === 'chunk') {
      this.#state = 'after chunk'
      return [end, code]
    }
    // One that pauses at its last part is complete when it goes on.
    this.#state = 'whole'
    return [end, code || this.#complete()]
  }

  #readChunkSize(byte: number, index: number): [number, number] {
    const digit = String.fromCharCode(byte)
    if (/[\da-f]/i.test(digit)) {
      this.#kept += digit
      return this.#kept.length > 12 ? [index, this.#fail(invalidChunk, 'Chunk size overflow')] : [index + 1, ok]
    }
    const isOver = isEnd(byte) || digit === ';' || digit === ' ' || digit === '\t'
    if (this.#kept === '' || !isOver) return [index, this.#fail(invalidChunk, 'Invalid character in chunk size')]
    this.#state = 'chunk extension'
    return [index, ok]
  }

  #beginChunk(): number {
    this.#left = Number.parseInt(this.#kept, 16)
    this.#kept = ''
    this.#isTrailer = this.#left === 0
    return this.#go(this.#isTrailer ? 'line' : 'chunk')
  }

  #complete(): number {
    this.#state = this.#staysOpen ? 'start' : 'closed'
    return this.#tell('wasm_on_message_complete')
  }

  #keep(input: Uint8Array, from: number, to: number): boolean {
    if (this.#kept.length + to - from > maxKept) return false
    for (let index = from; index < to; index += 1) this.#kept += String.fromCharCode(input[index]!)
    return true
  }

  #tell(callback: string, ...values: number[]): number {
    const answer = this.#callbacks[callback]!(this.#number, ...values)
    return answer < 0 ? this.#fail(byUser, 'User callback error') : answer
  }

  #fail(code: number, reason: string): number {
    this.reason = reason
    return code
  }
}

/** The characters of a name, as RFC 9110 has them. */
function isOfName(byte: number): boolean {
  return /[\w!#$%&'*+.^`|~-]/.test(String.fromCharCode(byte))
}

function isControl(byte: number): boolean {
  return (byte < space && byte !== tab) || byte === 127
}

function isEnd(byte: number): boolean {
  return byte === carriageReturn || byte === lineFeed
}

/** The exports of llhttp that undici calls. */
function openLlhttp({ env }: Imports): object {
  const memory = { buffer: new ArrayBuffer(inputAddress) }
  const parsers = new Map<number, ResponseParser>()
  let count = 0
  return {
    memory,
    malloc(bytes: number): number {
      // Only one input is in use at a time.
      memory.buffer = new ArrayBuffer(inputAddress + bytes)
      return inputAddress
    },
    free() {},
    llhttp_alloc(): number {
      count += 1
      parsers.set(count, new ResponseParser(count, env as Callbacks))
      return count
    },
    llhttp_free: (number: number) => void parsers.delete(number),
    llhttp_resume() {},
    llhttp_execute: (number: number, address: number, bytes: number) =>
      parsers.get(number)!.execute(new Uint8Array(memory.buffer, address, bytes)),
    llhttp_finish: (number: number) => parsers.get(number)!.finish(),
    llhttp_get_error_pos: (number: number) => parsers.get(number)!.position,
    llhttp_get_error_reason(number: number): number {
      const reason = new TextEncoder().encode(`${parsers.get(number)!.reason}\0`)
      new Uint8Array(memory.buffer).set(reason, reasonAddress)
      return reasonAddress
    },
  }
}

export const llhttpProgram: SyncProgram = {
  // The name of an export in the program.
  matches: (bytes) =>
    bytes instanceof Uint8Array && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('llhttp_execute'),
  open: openLlhttp,
}
