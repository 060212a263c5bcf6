/**
 * The globals of isolates, beside ECMAScript's own. Isolates have no others: no Node, no document, no WebAssembly.
 * A test looks in an isolate for every name and member.
 */

// Time

declare function setTimeout<Arguments extends unknown[]>(
  callback: (...values: Arguments) => void,
  milliseconds?: number,
  ...values: Arguments
): number
/** A promise's `resolve` takes a value that is not needed here. */
declare function setTimeout(callback: (value: void) => void, milliseconds?: number): number
declare function setInterval<Arguments extends unknown[]>(
  callback: (...values: Arguments) => void,
  milliseconds?: number,
  ...values: Arguments
): number
declare function clearTimeout(timer?: number): void
declare function clearInterval(timer?: number): void
declare function queueMicrotask(callback: () => void): void
/** Clocks tell whole milliseconds. */
declare class Performance extends EventTarget {
  private constructor()
  readonly timeOrigin: number
  now(): number
  mark(name: string, options?: { startTime?: number; detail?: unknown }): PerformanceMark
  measure(name: string, start?: string | PerformanceMeasureOptions, end?: string): PerformanceMeasure
  clearMarks(name?: string): void
  clearMeasures(name?: string): void
  /** The last thousand entries. */
  getEntries(): PerformanceEntry[]
  getEntriesByName(name: string, type?: string): PerformanceEntry[]
  getEntriesByType(type: string): PerformanceEntry[]
  toJSON(): { timeOrigin: number }
}
declare var performance: Performance
interface PerformanceMeasureOptions {
  start?: number | string
  end?: number | string
  duration?: number
  detail?: unknown
}
declare class PerformanceEntry {
  protected constructor()
  readonly name: string
  readonly entryType: string
  readonly startTime: number
  readonly duration: number
  toJSON(): unknown
}
declare class PerformanceMark extends PerformanceEntry {
  constructor(name: string, options?: { startTime?: number; detail?: unknown })
  readonly detail: unknown
}
declare class PerformanceMeasure extends PerformanceEntry {
  private constructor()
  readonly detail: unknown
}

/** Writes into the bot’s log. */
declare var console: {
  log(...values: unknown[]): void
  info(...values: unknown[]): void
  debug(...values: unknown[]): void
  warn(...values: unknown[]): void
  error(...values: unknown[]): void
  dir(value: unknown): void
  dirxml(...values: unknown[]): void
  table(data: unknown, columns?: string[]): void
  trace(...values: unknown[]): void
  assert(condition?: unknown, ...values: unknown[]): void
  count(label?: string): void
  countReset(label?: string): void
  group(...values: unknown[]): void
  groupCollapsed(...values: unknown[]): void
  groupEnd(): void
  time(label?: string): void
  timeLog(label?: string, ...values: unknown[]): void
  timeEnd(label?: string): void
}

// Requests

/**
 * Requests something of the world outside. It reaches the hosts that were granted with `permissions.net`, and no others;
 * the body of an answer is read while it comes.
 */
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>

type HeadersInit = Headers | Record<string, string> | Iterable<readonly [string, string]>
type BodyInit = string | ArrayBuffer | ArrayBufferView | Blob | FormData | URLSearchParams | ReadableStream<Uint8Array>

interface RequestInit {
  method?: string
  headers?: HeadersInit
  body?: BodyInit | null
  redirect?: 'follow' | 'error' | 'manual'
  signal?: AbortSignal | null
}

interface ResponseInit {
  status?: number
  statusText?: string
  headers?: HeadersInit
}

interface Body {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null
  readonly bodyUsed: boolean
  text(): Promise<string>
  json(): Promise<any>
  bytes(): Promise<Uint8Array<ArrayBuffer>>
  arrayBuffer(): Promise<ArrayBuffer>
  blob(): Promise<Blob>
  formData(): Promise<FormData>
}

interface Request extends Body {}
declare class Request {
  constructor(input: string | URL | Request, init?: RequestInit)
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly redirect: 'follow' | 'error' | 'manual'
  readonly signal: AbortSignal
  clone(): Request
}

interface Response extends Body {}
declare class Response {
  constructor(body?: BodyInit | null, init?: ResponseInit)
  static json(value: unknown, init?: ResponseInit): Response
  static redirect(url: string | URL, status?: number): Response
  static error(): Response
  readonly status: number
  readonly statusText: string
  readonly ok: boolean
  readonly headers: Headers
  readonly url: string
  readonly redirected: boolean
  readonly type: string
  clone(): Response
}

declare class Headers {
  constructor(source?: HeadersInit)
  append(name: string, value: string): void
  set(name: string, value: string): void
  delete(name: string): void
  has(name: string): boolean
  get(name: string): string | null
  getSetCookie(): string[]
  forEach(callback: (value: string, name: string, headers: Headers) => void): void
  entries(): IterableIterator<[string, string]>
  keys(): IterableIterator<string>
  values(): IterableIterator<string>
  [Symbol.iterator](): IterableIterator<[string, string]>
}

declare class FormData {
  append(name: string, value: string | Blob, filename?: string): void
  set(name: string, value: string | Blob, filename?: string): void
  delete(name: string): void
  has(name: string): boolean
  get(name: string): string | File | null
  getAll(name: string): (string | File)[]
  forEach(callback: (value: string | File, name: string, form: FormData) => void): void
  entries(): IterableIterator<[string, string | File]>
  keys(): IterableIterator<string>
  values(): IterableIterator<string | File>
  [Symbol.iterator](): IterableIterator<[string, string | File]>
}

declare class Blob {
  constructor(parts?: Iterable<string | ArrayBuffer | ArrayBufferView | Blob>, options?: { type?: string })
  readonly size: number
  readonly type: string
  slice(start?: number, end?: number, type?: string): Blob
  text(): Promise<string>
  bytes(): Promise<Uint8Array<ArrayBuffer>>
  arrayBuffer(): Promise<ArrayBuffer>
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>
}

declare class File extends Blob {
  constructor(
    parts: Iterable<string | ArrayBuffer | ArrayBufferView | Blob>,
    name: string,
    options?: { type?: string; lastModified?: number },
  )
  readonly name: string
  readonly lastModified: number
}

declare class URL {
  constructor(url: string | URL, base?: string | URL)
  static canParse(url: string | URL, base?: string | URL): boolean
  static parse(url: string | URL, base?: string | URL): URL | null
  href: string
  readonly origin: string
  protocol: string
  username: string
  password: string
  host: string
  hostname: string
  port: string
  pathname: string
  search: string
  readonly searchParams: URLSearchParams
  hash: string
  toString(): string
  toJSON(): string
}

declare class URLSearchParams {
  constructor(source?: string | URLSearchParams | Record<string, string> | Iterable<readonly [string, string]>)
  readonly size: number
  append(name: string, value: string): void
  set(name: string, value: string): void
  delete(name: string, value?: string): void
  has(name: string, value?: string): boolean
  get(name: string): string | null
  getAll(name: string): string[]
  sort(): void
  forEach(callback: (value: string, name: string, parameters: URLSearchParams) => void): void
  entries(): IterableIterator<[string, string]>
  keys(): IterableIterator<string>
  values(): IterableIterator<string>
  [Symbol.iterator](): IterableIterator<[string, string]>
  toString(): string
}

// Events

interface EventInit {
  bubbles?: boolean
  cancelable?: boolean
  composed?: boolean
}

declare class Event {
  constructor(type: string, init?: EventInit)
  readonly type: string
  readonly target: EventTarget | null
  readonly currentTarget: EventTarget | null
  readonly timeStamp: number
  readonly bubbles: boolean
  readonly cancelable: boolean
  readonly defaultPrevented: boolean
  preventDefault(): void
  stopPropagation(): void
  stopImmediatePropagation(): void
}

declare class CustomEvent<Detail = any> extends Event {
  constructor(type: string, init?: EventInit & { detail?: Detail })
  readonly detail: Detail
}

type EventListener = ((event: any) => void) | { handleEvent(event: any): void }

declare class EventTarget {
  addEventListener(
    type: string,
    listener: EventListener | null,
    options?: boolean | { capture?: boolean; once?: boolean; passive?: boolean; signal?: AbortSignal },
  ): void
  removeEventListener(type: string, listener: EventListener | null, options?: boolean | { capture?: boolean }): void
  dispatchEvent(event: Event): boolean
}

declare class AbortController {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}

declare class AbortSignal extends EventTarget {
  private constructor()
  static abort(reason?: unknown): AbortSignal
  static timeout(milliseconds: number): AbortSignal
  static any(signals: Iterable<AbortSignal>): AbortSignal
  readonly aborted: boolean
  readonly reason: any
  onabort: ((event: Event) => void) | null
  throwIfAborted(): void
}

declare class DOMException extends Error {
  constructor(message?: string, name?: string)
  readonly code: number
}

// Text and bytes

declare function atob(text: string): string
declare function btoa(text: string): string
declare function structuredClone<Value>(value: Value, options?: { transfer?: Iterable<ArrayBuffer> }): Value

declare class TextEncoder {
  readonly encoding: string
  encode(text?: string): Uint8Array<ArrayBuffer>
  encodeInto(text: string, target: Uint8Array): { read: number; written: number }
}

interface TextDecoderOptions {
  fatal?: boolean
  ignoreBOM?: boolean
}

/** Knows UTF-8 alone. */
declare class TextDecoder {
  constructor(label?: string, options?: TextDecoderOptions)
  readonly encoding: string
  readonly fatal: boolean
  readonly ignoreBOM: boolean
  decode(input?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string
}

type BufferEncoding =
  | 'utf8'
  | 'utf-8'
  | 'hex'
  | 'base64'
  | 'base64url'
  | 'latin1'
  | 'binary'
  | 'ascii'
  | 'utf16le'
  | 'ucs2'

declare class Buffer extends Uint8Array<ArrayBuffer> {
  private constructor()
  static from(text: string, encoding?: BufferEncoding): Buffer
  static from(bytes: ArrayBuffer, offset?: number, length?: number): Buffer
  static from(bytes: ArrayLike<number> | Iterable<number>): Buffer
  static alloc(size: number, fill?: string | number | Uint8Array, encoding?: BufferEncoding): Buffer
  static allocUnsafe(size: number): Buffer
  static concat(list: readonly Uint8Array[], length?: number): Buffer
  static byteLength(value: string | ArrayBuffer | ArrayBufferView, encoding?: BufferEncoding): number
  static compare(one: Uint8Array, other: Uint8Array): -1 | 0 | 1
  static isBuffer(value: unknown): value is Buffer
  static isEncoding(encoding: string): encoding is BufferEncoding
  toString(encoding?: BufferEncoding, start?: number, end?: number): string
  toJSON(): { type: 'Buffer'; data: number[] }
  equals(other: Uint8Array): boolean
  compare(other: Uint8Array): -1 | 0 | 1
  copy(target: Uint8Array, targetStart?: number, start?: number, end?: number): number
  write(text: string, offset?: number, length?: number, encoding?: BufferEncoding): number
  readUInt8(offset?: number): number
  readUInt16BE(offset?: number): number
  readUInt16LE(offset?: number): number
  readUInt32BE(offset?: number): number
  readUInt32LE(offset?: number): number
  readInt32BE(offset?: number): number
  readInt32LE(offset?: number): number
  writeUInt8(value: number, offset?: number): number
  writeUInt16BE(value: number, offset?: number): number
  writeUInt16LE(value: number, offset?: number): number
  writeUInt32BE(value: number, offset?: number): number
  writeUInt32LE(value: number, offset?: number): number
  writeInt32BE(value: number, offset?: number): number
  writeInt32LE(value: number, offset?: number): number
}

// Streams

interface QueuingStrategy<Chunk = any> {
  highWaterMark?: number
  size?(chunk: Chunk): number
}

interface UnderlyingSource<Chunk> {
  type?: 'bytes'
  start?(controller: ReadableStreamDefaultController<Chunk>): void | Promise<void>
  pull?(controller: ReadableStreamDefaultController<Chunk>): void | Promise<void>
  cancel?(reason?: unknown): void | Promise<void>
}

interface UnderlyingSink<Chunk> {
  start?(controller: WritableStreamDefaultController): void | Promise<void>
  write?(chunk: Chunk, controller: WritableStreamDefaultController): void | Promise<void>
  close?(): void | Promise<void>
  abort?(reason?: unknown): void | Promise<void>
}

interface Transformer<Input, Output> {
  start?(controller: TransformStreamDefaultController<Output>): void | Promise<void>
  transform?(chunk: Input, controller: TransformStreamDefaultController<Output>): void | Promise<void>
  flush?(controller: TransformStreamDefaultController<Output>): void | Promise<void>
}

interface StreamPipeOptions {
  preventClose?: boolean
  preventAbort?: boolean
  preventCancel?: boolean
  signal?: AbortSignal
}

declare class ReadableStream<Chunk = any> {
  constructor(source?: UnderlyingSource<Chunk>, strategy?: QueuingStrategy<Chunk>)
  readonly locked: boolean
  cancel(reason?: unknown): Promise<void>
  getReader(): ReadableStreamDefaultReader<Chunk>
  pipeThrough<Output>(
    pair: { readable: ReadableStream<Output>; writable: WritableStream<Chunk> },
    options?: StreamPipeOptions,
  ): ReadableStream<Output>
  pipeTo(target: WritableStream<Chunk>, options?: StreamPipeOptions): Promise<void>
  tee(): [ReadableStream<Chunk>, ReadableStream<Chunk>]
  values(options?: { preventCancel?: boolean }): AsyncIterableIterator<Chunk>
  [Symbol.asyncIterator](options?: { preventCancel?: boolean }): AsyncIterableIterator<Chunk>
}

declare class ReadableStreamDefaultReader<Chunk = any> {
  constructor(stream: ReadableStream<Chunk>)
  readonly closed: Promise<void>
  read(): Promise<{ done: false; value: Chunk } | { done: true; value?: undefined }>
  releaseLock(): void
  cancel(reason?: unknown): Promise<void>
}

declare class ReadableStreamDefaultController<Chunk = any> {
  private constructor()
  readonly desiredSize: number | null
  enqueue(chunk: Chunk): void
  close(): void
  error(reason?: unknown): void
}

declare class ReadableStreamBYOBReader {
  constructor(stream: ReadableStream<Uint8Array>)
  readonly closed: Promise<void>
  read<View extends ArrayBufferView>(view: View): Promise<{ done: boolean; value: View | undefined }>
  releaseLock(): void
  cancel(reason?: unknown): Promise<void>
}

declare class ReadableStreamBYOBRequest {
  private constructor()
  readonly view: ArrayBufferView | null
  respond(bytesWritten: number): void
  respondWithNewView(view: ArrayBufferView): void
}

declare class ReadableByteStreamController {
  private constructor()
  readonly byobRequest: ReadableStreamBYOBRequest | null
  readonly desiredSize: number | null
  enqueue(chunk: ArrayBufferView): void
  close(): void
  error(reason?: unknown): void
}

declare class WritableStream<Chunk = any> {
  constructor(sink?: UnderlyingSink<Chunk>, strategy?: QueuingStrategy<Chunk>)
  readonly locked: boolean
  abort(reason?: unknown): Promise<void>
  close(): Promise<void>
  getWriter(): WritableStreamDefaultWriter<Chunk>
}

declare class WritableStreamDefaultWriter<Chunk = any> {
  constructor(stream: WritableStream<Chunk>)
  readonly closed: Promise<void>
  readonly ready: Promise<void>
  readonly desiredSize: number | null
  write(chunk?: Chunk): Promise<void>
  close(): Promise<void>
  abort(reason?: unknown): Promise<void>
  releaseLock(): void
}

declare class WritableStreamDefaultController {
  private constructor()
  readonly signal: AbortSignal
  error(reason?: unknown): void
}

declare class TransformStream<Input = any, Output = any> {
  constructor(
    transformer?: Transformer<Input, Output>,
    writableStrategy?: QueuingStrategy<Input>,
    readableStrategy?: QueuingStrategy<Output>,
  )
  readonly readable: ReadableStream<Output>
  readonly writable: WritableStream<Input>
}

declare class TransformStreamDefaultController<Output = any> {
  private constructor()
  readonly desiredSize: number | null
  enqueue(chunk: Output): void
  terminate(): void
  error(reason?: unknown): void
}

declare class TextEncoderStream {
  readonly encoding: string
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>
  readonly writable: WritableStream<string>
}

declare class TextDecoderStream {
  constructor(label?: string, options?: TextDecoderOptions)
  readonly encoding: string
  readonly fatal: boolean
  readonly ignoreBOM: boolean
  readonly readable: ReadableStream<string>
  readonly writable: WritableStream<ArrayBuffer | ArrayBufferView>
}

declare class CountQueuingStrategy {
  constructor(init: { highWaterMark: number })
  readonly highWaterMark: number
  readonly size: (chunk?: unknown) => 1
}

declare class ByteLengthQueuingStrategy {
  constructor(init: { highWaterMark: number })
  readonly highWaterMark: number
  readonly size: (chunk: ArrayBufferView) => number
}

// Cryptography

declare class Crypto {
  private constructor()
  getRandomValues<View extends ArrayBufferView>(view: View): View
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`
  readonly subtle: SubtleCrypto
}
declare var crypto: Crypto

type KeyUsage = 'encrypt' | 'decrypt' | 'sign' | 'verify' | 'deriveKey' | 'deriveBits' | 'wrapKey' | 'unwrapKey'
type CryptoBytes = ArrayBuffer | ArrayBufferView
type CryptoAlgorithm = string | { name: string; [parameter: string]: unknown }

interface JsonWebKey {
  kty?: string
  [parameter: string]: any
}

interface CryptoKeyPair {
  publicKey: CryptoKey
  privateKey: CryptoKey
}

declare class CryptoKey {
  private constructor()
  readonly type: 'secret' | 'public' | 'private'
  readonly extractable: boolean
  readonly algorithm: { name: string; [parameter: string]: unknown }
  readonly usages: readonly string[]
}

/**
 * SHA-1 to SHA-512, HMAC, AES-GCM, AES-CBC, AES-CTR, AES-KW, ECDH, ECDSA, Ed25519, X25519, RSASSA-PKCS1-v1_5, RSA-PSS, RSA-OAEP,
 * PBKDF2 and HKDF.
 */
declare class SubtleCrypto {
  private constructor()
  digest(algorithm: CryptoAlgorithm, data: CryptoBytes): Promise<ArrayBuffer>
  importKey(
    format: 'jwk',
    key: JsonWebKey,
    algorithm: CryptoAlgorithm,
    extractable: boolean,
    usages: Iterable<KeyUsage>,
  ): Promise<CryptoKey>
  importKey(
    format: 'raw' | 'spki' | 'pkcs8',
    key: CryptoBytes,
    algorithm: CryptoAlgorithm,
    extractable: boolean,
    usages: Iterable<KeyUsage>,
  ): Promise<CryptoKey>
  exportKey(format: 'jwk', key: CryptoKey): Promise<JsonWebKey>
  exportKey(format: 'raw' | 'spki' | 'pkcs8', key: CryptoKey): Promise<ArrayBuffer>
  generateKey(
    algorithm: CryptoAlgorithm,
    extractable: boolean,
    usages: Iterable<KeyUsage>,
  ): Promise<CryptoKey | CryptoKeyPair>
  sign(algorithm: CryptoAlgorithm, key: CryptoKey, data: CryptoBytes): Promise<ArrayBuffer>
  verify(algorithm: CryptoAlgorithm, key: CryptoKey, signature: CryptoBytes, data: CryptoBytes): Promise<boolean>
  encrypt(algorithm: CryptoAlgorithm, key: CryptoKey, data: CryptoBytes): Promise<ArrayBuffer>
  decrypt(algorithm: CryptoAlgorithm, key: CryptoKey, data: CryptoBytes): Promise<ArrayBuffer>
  /** @param length in bits; null for the whole secret of ECDH and X25519 */
  deriveBits(algorithm: CryptoAlgorithm, key: CryptoKey, length?: number | null): Promise<ArrayBuffer>
  deriveKey(
    algorithm: CryptoAlgorithm,
    key: CryptoKey,
    derived: CryptoAlgorithm,
    extractable: boolean,
    usages: Iterable<KeyUsage>,
  ): Promise<CryptoKey>
  wrapKey(
    format: 'jwk' | 'raw' | 'spki' | 'pkcs8',
    key: CryptoKey,
    wrappingKey: CryptoKey,
    algorithm: CryptoAlgorithm,
  ): Promise<ArrayBuffer>
  unwrapKey(
    format: 'jwk' | 'raw' | 'spki' | 'pkcs8',
    wrappedKey: CryptoBytes,
    unwrappingKey: CryptoKey,
    algorithm: CryptoAlgorithm,
    keyAlgorithm: CryptoAlgorithm,
    extractable: boolean,
    usages: Iterable<KeyUsage>,
  ): Promise<CryptoKey>
}

// Messages, between parts of the code of one isolate

interface MessageEventInit extends EventInit {
  data?: unknown
  origin?: string
  lastEventId?: string
}

declare class MessageEvent<Data = any> extends Event {
  constructor(type: string, init?: MessageEventInit)
  readonly data: Data
  readonly origin: string
  readonly lastEventId: string
  readonly ports: readonly MessagePort[]
}

declare class CloseEvent extends Event {
  constructor(type: string, init?: EventInit & { wasClean?: boolean; code?: number; reason?: string })
  readonly wasClean: boolean
  readonly code: number
  readonly reason: string
}

/** A message ends with the event that posts it, as a timer does. */
declare class MessagePort extends EventTarget {
  private constructor()
  onmessage: ((event: MessageEvent) => void) | null
  onmessageerror: ((event: MessageEvent) => void) | null
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void
  start(): void
  close(): void
}

declare class MessageChannel {
  readonly port1: MessagePort
  readonly port2: MessagePort
}

declare class BroadcastChannel extends EventTarget {
  constructor(name: string)
  readonly name: string
  onmessage: ((event: MessageEvent) => void) | null
  onmessageerror: ((event: MessageEvent) => void) | null
  postMessage(message: unknown): void
  close(): void
}

// Compression

type CompressionFormat = 'gzip' | 'deflate' | 'deflate-raw'

declare class CompressionStream {
  constructor(format: CompressionFormat)
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<ArrayBuffer | ArrayBufferView>
}

declare class DecompressionStream {
  constructor(format: CompressionFormat)
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<ArrayBuffer | ArrayBufferView>
}

// Patterns of addresses

interface URLPatternInit {
  protocol?: string
  username?: string
  password?: string
  hostname?: string
  port?: string
  pathname?: string
  search?: string
  hash?: string
  baseURL?: string
}

interface URLPatternPart {
  input: string
  groups: Record<string, string | undefined>
}

type URLPatternResult = Record<Exclude<keyof URLPatternInit, 'baseURL'>, URLPatternPart> & {
  inputs: (string | URLPatternInit)[]
}

declare class URLPattern {
  constructor(pattern?: string | URLPatternInit, base?: string)
  readonly protocol: string
  readonly username: string
  readonly password: string
  readonly hostname: string
  readonly port: string
  readonly pathname: string
  readonly search: string
  readonly hash: string
  test(input?: string | URLPatternInit, base?: string): boolean
  exec(input?: string | URLPatternInit, base?: string): URLPatternResult | null
}

// The surroundings

/** Fixed answers, which say nothing of the machine. */
declare class Navigator {
  private constructor()
  readonly hardwareConcurrency: number
  readonly language: string
  readonly languages: readonly string[]
  readonly platform: string
  readonly userAgent: string
}
declare var navigator: Navigator
