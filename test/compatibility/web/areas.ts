/** The globals whose tests are run, by the folders of the tests. */
const folders: [folder: string, area: string][] = [
  ['FileAPI/blob/', 'Blob, File'],
  ['FileAPI/file/', 'Blob, File'],
  ['FileAPI/url/', 'Blob, File'],
  ['WebCryptoAPI/', 'crypto'],
  ['compression/', 'CompressionStream'],
  ['console/', 'console'],
  ['dom/abort/', 'AbortSignal'],
  ['dom/events/', 'Event, EventTarget'],
  ['encoding/', 'TextDecoder, TextEncoder'],
  ['fetch/api/headers/', 'Headers'],
  ['fetch/api/request/', 'Request'],
  ['fetch/api/response/', 'Response'],
  ['fetch/api/', 'fetch'],
  ['fetch/content-type/', 'Response'],
  ['fetch/data-urls/', 'fetch'],
  ['hr-time/', 'performance'],
  ['html/webappapis/atob/', 'atob, btoa'],
  ['html/webappapis/microtask-queuing/', 'timers, queueMicrotask'],
  ['html/webappapis/structured-clone/', 'structuredClone'],
  ['html/webappapis/timers/', 'timers, queueMicrotask'],
  ['performance-timeline/', 'performance'],
  ['streams/', 'streams'],
  ['url/', 'URL, URLSearchParams'],
  ['urlpattern/', 'URLPattern'],
  ['user-timing/', 'performance'],
  ['webidl/', 'DOMException'],
  ['webmessaging/', 'messages'],
  ['xhr/formdata/', 'FormData'],
]

/** The area of a test; undefined for tests of other interfaces than those of isolates. */
export function areaOf(path: string): string | undefined {
  const area = folders.find(([folder]) => path.startsWith(folder))?.[1]
  return area && /(?:^|\/)idlharness\./.test(path) ? 'shapes of interfaces' : area
}

/** Why tests are not run, by what they mention. */
const exclusions: [mention: RegExp, reason: string][] = [
  [/\.py\b|get-host-info|\{\{\w|\.sub\.js\b|(?:request|http)-cache\.js/, 'needs the server of the tests'],
  [/\bdocument\.|\bnew Worker\(|importScripts\(|\bself\.opener\b|\bcreateScript\b/, 'needs a page or a worker'],
  [/\bXMLHttpRequest\b/, 'needs XMLHttpRequest'],
  [/pbkdf2_vectors\.js|successes\.js[^]*run_test\(\["RS/, 'takes minutes of processor time'],
]

/**
 * Says why a test is not run; undefined if it is.
 *
 * @param text of the test
 */
export function exclusionOf(text: string): string | undefined {
  const globals = /^\/\/ META: global=(.*)$/m
    .exec(text)?.[1]
    ?.trim()
    .split(/\s*,\s*/)
  if (globals?.every((name) => name === 'window' || name === 'serviceworker')) return 'is for pages alone'
  return exclusions.find(([mention]) => mention.test(text))?.[1]
}
