/**
 * The modules of Node that bundles find in an isolate. From this table come the scripts that are loaded for a bundle, the
 * names that an upload may require, and the page docs/node-modules.md. It is used outside of isolates too, and imports
 * nothing.
 */

/**
 * - `real`: behaves as Node's.
 * - `partial`: behaves as Node's for the part that `note` names; every other function throws an error with its name.
 * - `shape`: has the names of Node's, so that bundles load; every function throws an error with its name.
 */
export type ModuleKind = 'real' | 'partial' | 'shape'

/** The scripts that provide modules, in the order of loading. Each is loaded only for bundles that name one of its modules. */
export const scriptNames = [
  'tag',
  'tokenizer',
  'quickjs',
  'common',
  'shapes',
  'util',
  'assert',
  'text',
  'stream',
  'http',
  'sockets',
  'undici',
  'zlib',
  'crypto',
  'keys',
] as const

export type ScriptName = (typeof scriptNames)[number]

export interface NodeModule {
  kind: ModuleKind
  script: ScriptName
  /** The package that provides it; absent for the platform's own code. */
  from?: string
  note: string
}

const noFiles = 'isolates have no files'
const noDatagrams = 'isolates send no datagrams: use fetch, http or https'
const noProcesses = 'isolates start no processes and threads'

export const nodeModules = {
  assert: { kind: 'real', script: 'assert', from: 'assert', note: '' },
  'assert/strict': { kind: 'real', script: 'assert', from: 'assert', note: '' },
  async_hooks: {
    kind: 'partial',
    script: 'common',
    note: '`AsyncResource`; branches at the same time have stores of `AsyncLocalStorage` of their own where functions await each other',
  },
  buffer: { kind: 'real', script: 'common', from: 'buffer', note: 'without `transcode`' },
  child_process: { kind: 'shape', script: 'shapes', note: noProcesses },
  cluster: { kind: 'shape', script: 'shapes', note: noProcesses },
  console: { kind: 'real', script: 'util', note: 'the global `console`, and the class `Console`' },
  constants: { kind: 'partial', script: 'shapes', note: 'the constants of `fs`' },
  crypto: {
    kind: 'partial',
    script: 'crypto',
    from: '@noble/hashes',
    note:
      'hashes, HMAC, random values, PBKDF2, HKDF, scrypt, AES (CBC, CTR, GCM, wrap), ChaCha20-Poly1305, triple DES, signatures with RSA, ECDSA and ' +
      'Ed25519, encryption with RSA, ECDH and X25519, `KeyObject`, new keys, `webcrypto`; [keys](#keys)',
  },
  dgram: { kind: 'shape', script: 'shapes', note: noDatagrams },
  diagnostics_channel: {
    kind: 'partial',
    script: 'common',
    note: 'channels without subscribers outside of the bundle',
  },
  dns: { kind: 'shape', script: 'shapes', note: 'the platform resolves the hosts of requests' },
  'dns/promises': { kind: 'shape', script: 'shapes', note: 'the platform resolves the hosts of requests' },
  domain: { kind: 'shape', script: 'shapes', note: 'deprecated by Node' },
  events: { kind: 'real', script: 'common', from: 'events', note: '`getEventListeners` for emitters alone' },
  fs: { kind: 'shape', script: 'shapes', note: `${noFiles}: \`existsSync\` is false, reading throws \`ENOENT\`` },
  'fs/promises': { kind: 'shape', script: 'shapes', note: noFiles },
  http: {
    kind: 'partial',
    script: 'http',
    note: '`request`, `get`, `Agent`, over the guarded `fetch`: streams, back-pressure and aborts both ways; no servers',
  },
  http2: { kind: 'shape', script: 'shapes', note: 'use http or https' },
  https: { kind: 'partial', script: 'http', note: 'as `http`' },
  inspector: { kind: 'shape', script: 'shapes', note: 'isolates have no debugger' },
  'inspector/promises': { kind: 'shape', script: 'shapes', note: 'isolates have no debugger' },
  module: {
    kind: 'partial',
    script: 'shapes',
    note: '`builtinModules`, `isBuiltin`, and `createRequire`, whose function finds modules of Node alone: a bundle is one file',
  },
  net: {
    kind: 'partial',
    script: 'sockets',
    note: '`connect`, `Socket`, `isIP`: to hosts with ports that the code may connect to; no servers',
  },
  os: { kind: 'partial', script: 'common', note: 'fixed answers: Linux, one processor, no interfaces' },
  path: {
    kind: 'real',
    script: 'common',
    from: 'path-browserify',
    note: 'also `path.win32`, which is the same as `path.posix`; without `matchesGlob`',
  },
  'path/posix': { kind: 'real', script: 'common', from: 'path-browserify', note: '' },
  'path/win32': { kind: 'partial', script: 'common', from: 'path-browserify', note: 'as `path/posix`' },
  perf_hooks: { kind: 'partial', script: 'common', note: 'the global `performance`, and its classes' },
  process: {
    kind: 'partial',
    script: 'common',
    note: 'the global `process`: `env`, `hrtime`, `nextTick`, `title`, `versions`',
  },
  punycode: { kind: 'real', script: 'text', from: 'punycode', note: '' },
  querystring: { kind: 'real', script: 'text', note: '' },
  readline: { kind: 'shape', script: 'shapes', note: 'isolates have no terminal' },
  'readline/promises': { kind: 'shape', script: 'shapes', note: 'isolates have no terminal' },
  stream: { kind: 'real', script: 'stream', from: 'readable-stream', note: '' },
  'stream/consumers': { kind: 'real', script: 'stream', note: '' },
  'stream/promises': { kind: 'real', script: 'stream', from: 'readable-stream', note: '' },
  'stream/web': { kind: 'real', script: 'common', from: 'web-streams-polyfill', note: '' },
  string_decoder: { kind: 'real', script: 'text', from: 'string_decoder', note: '' },
  sys: { kind: 'real', script: 'util', from: 'util', note: 'the old name of `util`' },
  timers: { kind: 'real', script: 'common', note: 'an event waits for no timer' },
  'timers/promises': { kind: 'real', script: 'common', note: '' },
  tls: { kind: 'partial', script: 'sockets', note: '`connect`, `TLSSocket`: as `net`; the platform encrypts' },
  tty: { kind: 'shape', script: 'shapes', note: '`isatty` is false' },
  url: { kind: 'real', script: 'text', from: 'url', note: 'and the global `URL`; without `URLPattern`' },
  util: {
    kind: 'real',
    script: 'util',
    from: 'util',
    note: 'without `parseArgs`, `parseEnv`, `MIMEType` and `diff`; `inspect` shows no states of promises and sees no proxies; its text has a limit',
  },
  'util/types': { kind: 'real', script: 'util', from: 'util', note: '' },
  v8: { kind: 'shape', script: 'shapes', note: 'isolates have no access to the engine' },
  vm: { kind: 'shape', script: 'shapes', note: 'isolates make no further contexts' },
  worker_threads: {
    kind: 'shape',
    script: 'shapes',
    note: `${noProcesses}: \`isMainThread\` is true; \`MessageChannel\` and \`BroadcastChannel\` are the globals`,
  },
  zlib: {
    kind: 'partial',
    script: 'zlib',
    from: 'pako',
    note: 'gzip, deflate and raw deflate as functions and as streams, `crc32`; no Brotli, no Zstandard',
  },
} as const satisfies Record<string, NodeModule>

export type NodeModuleName = keyof typeof nodeModules

export const nodeModuleNames = Object.keys(nodeModules) as NodeModuleName[]

/** The module of Node that an import names, with or without `node:`; undefined for one that isolates do not have. */
export function findNodeModule(name: string): NodeModule | undefined {
  const module = name.replace(/^node:/, '')
  return Object.hasOwn(nodeModules, module) ? nodeModules[module as NodeModuleName] : undefined
}

/** Scripts whose modules the modules of a script require. */
const needs: Partial<Record<ScriptName, readonly ScriptName[]>> = {
  util: ['common'],
  assert: ['common', 'util'],
  text: ['common'],
  stream: ['common'],
  http: ['common', 'stream'],
  sockets: ['common', 'stream'],
  undici: ['common', 'stream', 'http'],
  zlib: ['common', 'stream'],
  crypto: ['common'],
  shapes: ['common'],
}

/** Modules that are none of Node's. */
export const furtherModules: Partial<Record<ScriptName, readonly string[]>> = { undici: ['undici'] }

/** The modules of Node that a script provides; two scripts provide `crypto`, and a bundle gets one of them. */
export function modulesOf(script: ScriptName): NodeModuleName[] {
  const shown = script === 'keys' ? 'crypto' : script
  return nodeModuleNames.filter((name) => nodeModules[name].script === shown)
}

/** Functions of `crypto` that need much code, which the script `keys` has. Names of properties stay in minified code. */
const usesKeys = new RegExp(
  String.raw`\b(?:${[
    'create(?:Sign|Verify|PrivateKey|PublicKey|SecretKey|Cipheriv|Decipheriv|ECDH)',
    '(?:pbkdf2|scrypt|hkdf|generateKey|generateKeyPair)(?:Sync)?',
    'publicEncrypt|privateDecrypt|diffieHellman|KeyObject|X509Certificate|ECDH|getCiphers|getCipherInfo|getCurves',
  ].join('|')})\b|\.(?:sign|verify)\b|\b(?:sign|verify)\b[^{}]{0,200}\}\s*=`,
)

/** Functions that connect streams. */
const usesPipes = /\b(?:pipe|pipeline)\b/

/**
 * A call with the name of a module as its only argument. Bundlers rename `require`, so the name of the function does not
 * matter. That of `import()` may follow a comment for bundlers.
 */
const calls = new RegExp(
  `\\(\\s*(?:/\\*[^*]*\\*/\\s*)?["'\`](?:node:)?(${nodeModuleNames.join('|')})["'\`]\\s*\\)`,
  'g',
)

/** The name of the imports of a tokenizer in WebAssembly, in whose place the script `tokenizer` is. */
const tokenizerImports = './tiktoken_bg.js'

/** A name of the interface of QuickJS in WebAssembly, a property that no bundler renames; the script `quickjs` has the engine. */
const quickJsName = '_QTS_NewRuntime'

/** The beginning of the name under which `undici` looks for its default dispatcher, a text that no bundler renames. */
const undiciName = 'undici.globalDispatcher.'

/** A request for `undici` that is left to the isolate. */
const requiresUndici = /\(\s*["'`]undici["'`]\s*\)/

/** Scripts in place of programs in WebAssembly, which need nothing of Node. */
const programScripts: readonly ScriptName[] = ['tokenizer', 'quickjs']

/** The scripts that a bundle needs, in the order of loading. */
export function scriptsFor(code: string): ScriptName[] {
  const found = new Set<ScriptName>()
  if (code.includes(tokenizerImports)) found.add('tokenizer')
  if (code.includes(quickJsName)) found.add('quickjs')
  if (code.includes('undici') && (code.includes(undiciName) || requiresUndici.test(code))) found.add('undici')
  // A search for the text is faster than the pattern, and most native bots do not contain it. The name in place of `import` is
  // `importName`.
  if (code.includes('require') || code.includes('impor') || code.includes('BuiltinModule')) {
    for (const { 1: name, index } of code.matchAll(calls)) {
      if (!isMethod(code, index)) found.add(nodeModules[name as NodeModuleName].script)
    }
  }
  if (found.has('http') && !canUseFetch(code)) found.add('tag')
  // Hashes and ciphers are streams for code that uses them as such.
  if (found.has('crypto') && usesPipes.test(code)) found.add('stream')
  for (const script of found) for (const needed of needs[script] ?? []) found.add(needed)
  if (found.has('crypto') && usesKeys.test(code)) {
    found.delete('crypto')
    found.add('keys')
  }
  return scriptNames.filter((name) => found.has(name))
}

/** Whether scripts have modules of Node, so that their bundle expects the globals of Node as well. */
export function includesNode(scripts: readonly ScriptName[]): boolean {
  return scripts.some((name) => !programScripts.includes(name))
}

/**
 * Whether every copy of axios in a bundle can use `fetch`, which versions from 1.7 on do where `process` has no tag. They
 * take 1.4 ms less for each request then (docs/decisions/0055). Where code reads a response as a stream or as bytes, it
 * expects a stream or a `Buffer` of Node; only that of the public client takes any bytes.
 */
function canUseFetch(code: string): boolean {
  const withFetch = countOf(code, "Response type '")
  const isOnly = withFetch > 0 && countOf(code, /\bxhr:/g) <= withFetch && !code.includes('[object process]')
  if (!isOnly || /\bresponseType["']?:\s*["'`]stream/.test(code)) return false
  return countOf(code, /\bresponseType["']?:\s*["'`]arraybuffer/g) <= countOf(code, downloadOfClient)
}

/** Words of the public client beside its only request for bytes. */
const downloadOfClient = 'Failed to download file from provided URL'

function countOf(code: string, text: string | RegExp): number {
  return typeof text === 'string' ? code.split(text).length - 1 : (code.match(text)?.length ?? 0)
}

/** Whether the call with this opening parenthesis is one of a method, as in `emitter.on("process")`, but for Node's own. */
function isMethod(code: string, parenthesis: number): boolean {
  const end = code.startsWith('?.', parenthesis - 2) ? parenthesis - 2 : parenthesis
  let at = end - 1
  while (at >= 0 && /[\w$]/.test(code[at]!)) at -= 1
  return code[at] === '.' && code.slice(at + 1, end) !== 'getBuiltinModule'
}
