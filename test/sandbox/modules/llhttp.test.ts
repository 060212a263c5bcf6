import { createRequire } from 'node:module'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { llhttpProgram } from '#sandbox/modules/undici/llhttp.ts'

const program = createRequire(import.meta.url)('undici/lib/llhttp/llhttp-wasm.js') as Uint8Array<ArrayBuffer>

interface WebAssemblyOfNode {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { exports: object }
}
const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyOfNode }).WebAssembly
const compiled = new Module(program)

interface Llhttp {
  memory: { buffer: ArrayBuffer }
  malloc(bytes: number): number
  free(address: number): void
  llhttp_alloc(type: number): number
  llhttp_execute(parser: number, address: number, bytes: number): number
  llhttp_resume(parser: number): void
  llhttp_finish(parser: number): number
  llhttp_get_error_pos(parser: number): number
}

type Open = (imports: { env: Record<string, unknown> }) => Llhttp

const openReal: Open = (imports) => new Instance(compiled, imports).exports as Llhttp
const openOwn: Open = (imports) => llhttpProgram.open(imports) as Llhttp

/** What a parser tells of chunks of a connection: texts are joined, as their parts may differ. */
function parse(open: Open, chunks: Buffer[], answers: { headers?: number; message?: number } = {}): string[] {
  const told: string[] = []
  let address = 0
  let chunk: Buffer = Buffer.alloc(0)
  const span = (name: string) => (_parser: number, at: number, length: number) => {
    const text = chunk.subarray(at - address, at - address + length).toString('latin1')
    if (told.at(-1)?.startsWith(`${name} `)) told.push(`${told.pop()}${text}`)
    else told.push(`${name} ${text}`)
    return 0
  }
  const parser = open({
    env: {
      wasm_on_url: () => 0,
      wasm_on_status: span('status'),
      wasm_on_message_begin: () => told.push('begin') * 0,
      wasm_on_header_field: span('field'),
      wasm_on_header_value: span('value'),
      wasm_on_headers_complete: (_parser: number, ...values: number[]) =>
        told.push(`headers ${values.join(' ')}`) * 0 + (answers.headers ?? 0),
      wasm_on_body: span('body'),
      wasm_on_message_complete: () => told.push('complete') * 0 + (answers.message ?? 0),
    },
  })
  const number = parser.llhttp_alloc(2)
  for (const given of chunks) {
    chunk = given
    let code = 21
    // As undici does, which goes on with no bytes too.
    while (code === 21) {
      address = parser.malloc(Math.max(chunk.length, 1))
      new Uint8Array(parser.memory.buffer, address, chunk.length).set(chunk)
      code = parser.llhttp_execute(number, address, chunk.length)
      const rest = code === 0 ? chunk.length : parser.llhttp_get_error_pos(number) - address
      parser.free(address)
      if (code !== 0 && code !== 21) return [...told, code === 22 ? `upgrade ${String(chunk.subarray(rest))}` : 'error']
      if (code === 21) parser.llhttp_resume(number)
      chunk = chunk.subarray(rest)
    }
  }
  return [...told, parser.llhttp_finish(number) === 0 ? 'end' : 'cut']
}

const crlf = (text: string) => text.replaceAll('\n', '\r\n')

const responses = [
  'HTTP/1.1 200 OK\ncontent-length: 5\nx-a: b\n\nhello',
  'HTTP/1.1 200 OK\ncontent-length: 0\n\nHTTP/1.1 404 Not Found\ncontent-length: 2\n\nno',
  'HTTP/1.1 204 No Content\n\nHTTP/1.1 200 \ncontent-length: 1\n\na',
  'HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\ncontent-length: 2\nempty:\nspaces:   v w  \n\nab',
  'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n5\nhello\n1;a=b\n \n0\n\n',
  'HTTP/1.1 200 OK\ntransfer-encoding: gzip, chunked\n\n1f\n1234567890123456789012345678901\n0\ntrailer: t\n\n',
  'HTTP/1.1 200 OK\nconnection: close\n\nuntil the end\n\n',
  'HTTP/1.0 200 OK\ncontent-length: 3\n\nabc',
  'HTTP/1.0 200 OK\nconnection: keep-alive\ncontent-length: 3\n\nabc',
  'HTTP/1.1 101 Switching Protocols\nconnection: upgrade\nupgrade: other\n\nbytes',
  'HTTP/1.1 304 Not Modified\ncontent-length: 5\netag: "a"\n\n',
].map(crlf)

const wrong = [
  'HTTP/1.1 200 OK\ncontent-length: 5\ncontent-length: 5\n\nhello',
  'HTTP/1.1 200 OK\ncontent-length: 5\ntransfer-encoding: chunked\n\n0\n\n',
  'HTTP/1.1 200 OK\ntransfer-encoding: chunked\ncontent-length: 5\n\n0\n\n',
  'HTTP/1.1 200 OK\ncontent-length: +5\n\nhello',
  'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\nx\nhello\n0\n\n',
  'HTTP/1.1 20 OK\n\n',
  'HTTP/3.1 200 OK\n\n',
  'HTTP/1.1 200 OK\nbad name: a\ncontent-length: 0\n\n',
  'nothing of HTTP\n\n',
  'HTTP/1.1 200 OK\ncontent-length: 5\n\nhel',
].map(crlf)

/** The text in chunks of a size. */
function cut(text: string, size: number): Buffer[] {
  const bytes = Buffer.from(text, 'latin1')
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}

/** Without what comes before an error: the program tells nothing of the text that is wrong. */
const shown = (told: string[]) => (told.at(-1) === 'error' ? ['error'] : told)

test.each([...responses, ...wrong])('tells of %j what the program in WebAssembly does', (text) => {
  for (const size of [1, 2, 3, 7, 1000])
    expect(shown(parse(openOwn, cut(text, size)))).toEqual(shown(parse(openReal, cut(text, size))))
})

test('stops and goes on, or leaves out a body, as the program does', () => {
  for (const text of responses) {
    for (const answers of [
      { headers: 21 },
      { message: 21 },
      { headers: 21, message: 21 },
      { headers: 1 },
      { headers: 2 },
    ]) {
      for (const size of [1, 5, 1000]) {
        expect([text, answers, parse(openOwn, cut(text, size), answers).slice(0, -1)]).toEqual([
          text,
          answers,
          parse(openReal, cut(text, size), answers).slice(0, -1),
        ])
      }
    }
  }
})

test('accepts no response that the program refuses, whatever was changed in it', () => {
  let state = 7
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state % below
  }
  const bytes = [0, 9, 10, 13, 32, 44, 48, 58, 59, 120, 255]
  const wronglyAccepted: [text: string, own: string[], real: string[]][] = []
  for (let round = 0; round < 3000; round += 1) {
    const changed = Buffer.from(responses[random(responses.length)]!, 'latin1')
    for (let change = 0; change <= random(3); change += 1) {
      changed[random(changed.length)] = bytes[random(bytes.length)]!
    }
    const text = changed.toString('latin1')
    const chunks = cut(text, 1 + random(40))
    const [own, real] = [parse(openOwn, chunks), parse(openReal, chunks)]
    const isRefused = own.at(-1) === 'error' || own.at(-1) === 'cut'
    if (!isRefused && !isDeepStrictEqual(own, real)) wronglyAccepted.push([text, own, real])
  }
  expect(wronglyAccepted).toEqual([])
})
