/** The modules and globals whose tests are run, by the beginning of the names of Node's tests. */
const beginnings: [beginning: RegExp, subject: string][] = [
  [/^test-assert/, 'assert'],
  [/^test-(?:async-local-storage|asyncresource)/, 'async_hooks'],
  [/^test-(?:buffer|btoa|atob)/, 'buffer'],
  [/^test-crypto/, 'crypto'],
  [/^test-webcrypto/, 'webcrypto'],
  [/^test-diagnostics-channel/, 'diagnostics_channel'],
  [/^test-(?:events?-|event-emitter)/, 'events'],
  [/^test-(?:eventtarget|abort|whatwg-events|custom)/, 'EventTarget, AbortSignal'],
  [/^test-(?:http-(?!2)|https-)/, 'http, https'],
  [/^test-os/, 'os'],
  [/^test-path/, 'path'],
  [/^test-(?:perf|performance)-?/, 'perf_hooks'],
  [/^test-(?:punycode)/, 'punycode'],
  [/^test-querystring/, 'querystring'],
  [/^test-(?:stream|streams|stream2|stream3|readable|writable)\b/, 'stream'],
  [/^test-string-decoder/, 'string_decoder'],
  [/^test-(?:timers|set-timeout|settimeout|setimmediate|next-?tick|microtask)/, 'timers'],
  [/^test-(?:url|whatwg-url|urlpattern)/, 'url'],
  [/^test-(?:util|icu|intl)/, 'util'],
  [/^test-zlib/, 'zlib'],
  [
    /^test-(?:blob|file|structuredclone|structuredClone|messagechannel|broadcastchannel|formdata|fetch|headers)\b/i,
    'Blob, fetch, structuredClone',
  ],
  [
    /^test-whatwg-(?:encoding|readable|writable|transform|webstreams)|^test-(?:webstream|compression)/,
    'web streams, encoding',
  ],
  [/^test-(?:net-is|net-)/, 'net'],
  [/^test-console/, 'console'],
]

export function subjectOf(name: string): string | undefined {
  return beginnings.find(([beginning]) => beginning.test(name))?.[1]
}
