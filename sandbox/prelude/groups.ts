/**
 * The globals of bundles come in groups, each a script of its own (`groups/<name>.ts`), so that an isolate evaluates
 * only those that its bundle can use. This table is used outside of isolates, and imports none of the groups.
 */

/** In the order of evaluation: each group uses only definitions of earlier ones. */
export const groupNames = ['web', 'streams', 'subtle', 'buffer', 'rare', 'compression', 'patterns', 'node'] as const

export type GroupName = (typeof groupNames)[number]

/** The globals of the web that isolates lack, by group. */
export const globalsOf = {
  web: [
    'AbortController',
    'AbortSignal',
    'Blob',
    'CustomEvent',
    'DOMException',
    'Event',
    'EventTarget',
    'File',
    'FormData',
    'Headers',
    'Request',
    'Response',
    'TextDecoder',
    'TextEncoder',
    'URL',
    'URLSearchParams',
    'atob',
    'btoa',
    'crypto',
    'fetch',
    'performance',
    'structuredClone',
  ],
  streams: [
    'ByteLengthQueuingStrategy',
    'CountQueuingStrategy',
    'ReadableByteStreamController',
    'ReadableStream',
    'ReadableStreamBYOBReader',
    'ReadableStreamBYOBRequest',
    'ReadableStreamDefaultController',
    'ReadableStreamDefaultReader',
    'TextDecoderStream',
    'TextEncoderStream',
    'TransformStream',
    'TransformStreamDefaultController',
    'WritableStream',
    'WritableStreamDefaultController',
    'WritableStreamDefaultWriter',
  ],
  subtle: ['CryptoKey', 'SubtleCrypto'],
  buffer: ['Buffer'],
  rare: [
    'BroadcastChannel',
    'CloseEvent',
    'Crypto',
    'MessageChannel',
    'MessageEvent',
    'MessagePort',
    'Navigator',
    'Performance',
    'PerformanceEntry',
    'PerformanceMark',
    'PerformanceMeasure',
    'navigator',
  ],
  compression: ['CompressionStream', 'DecompressionStream'],
  patterns: ['URLPattern'],
} as const satisfies Partial<Record<GroupName, readonly string[]>>

/** Globals of the rare ones that code can only name, derive from and compare with: each throws when it is constructed. */
export const refusedGlobals = [
  'PerformanceObserver',
  'PerformanceObserverEntryList',
  'PerformanceResourceTiming',
  'WebSocket',
] as const

/** Classes of the language that isolates remove, and that come back for their names: what they promise may never happen. */
export const inertGlobals = ['FinalizationRegistry'] as const

/** Members of objects of the first group, whose use requires another group without naming a global of it. */
const members = {
  streams: ['getReader', 'pipeThrough', 'pipeTo', 'stream', 'toWeb'],
  subtle: ['subtle'],
  rare: ['clearMarks', 'clearMeasures', 'getEntries', 'getEntriesByName', 'getEntriesByType', 'mark', 'measure'],
}

/** Code with `globalThis` may compute the name of any global but those of large libraries. */
const everything = /\bglobalThis\b/

/** Destructuring of `body`, as in `const { body } = await fetch(url)`. Bounded, because it is tried at each `body`. */
const takesBody = String.raw`\bbody\b[^{}]{0,60}\}\s*(?:=[^=>]|\)\s*=>)`

const rareNames = [...globalsOf.rare, ...refusedGlobals, ...inertGlobals]

const mentions: Record<Exclude<GroupName, 'node'>, RegExp> = {
  web: wordsOf([...globalsOf.web, ...globalsOf.streams, ...globalsOf.subtle, ...rareNames]),
  streams: new RegExp(`\\.body\\b|${takesBody}|${wordsOf([...globalsOf.streams, ...members.streams]).source}`),
  subtle: wordsOf([...globalsOf.subtle, ...members.subtle]),
  buffer: wordsOf(globalsOf.buffer),
  rare: wordsOf([...rareNames, ...members.rare]),
  // A search without boundaries takes 1 ms for each MB of code, and one with them 10 ms.
  compression: /ompressionStream/,
  patterns: /URLPattern/,
}

/**
 * Returns the groups that a bundle needs, in the order of evaluation. Members count only if a global of the web is
 * mentioned: otherwise no object has them.
 *
 * @param isNode whether the bundle expects the globals of Node
 */
export function groupsFor({ code, isNode }: { code: string; isNode: boolean }): GroupName[] {
  const isAll = everything.test(code)
  const compression = mentions.compression.test(code)
  const patterns = mentions.patterns.test(code)
  const usesWeb = isAll || isNode || compression || patterns || mentions.web.test(code)
  const needs: Record<GroupName, boolean> = {
    web: usesWeb,
    streams: isAll || compression || (usesWeb && mentions.streams.test(code)),
    subtle: isAll || (usesWeb && mentions.subtle.test(code)),
    buffer: isAll || isNode || mentions.buffer.test(code),
    rare: isAll || isNode || (usesWeb && mentions.rare.test(code)),
    compression,
    patterns,
    node: isNode,
  }
  return groupNames.filter((name) => needs[name])
}

function wordsOf(words: readonly string[]): RegExp {
  return new RegExp(`\\b(?:${words.join('|')})\\b`)
}
