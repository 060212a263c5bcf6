/**
 * The globals that bundles find are made in groups, each a script of its own (`groups/<name>.ts`), so that an isolate
 * evaluates only what its bundle can ask for. This table runs outside of isolates, and imports nothing of them.
 */

import type { BundleKind } from '../protocol/contract.ts'

/** In the order in which an isolate evaluates them: each uses only what those before it define. */
export const groupNames = ['web', 'streams', 'subtle', 'buffer', 'node'] as const

export type GroupName = (typeof groupNames)[number]

/** The globals of the web that no isolate has by itself, by group. */
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
} as const satisfies Partial<Record<GroupName, readonly string[]>>

/** What asks for a group without naming one of its globals: these are members of objects of the first group. */
const members = {
  streams: ['getReader', 'pipeThrough', 'pipeTo', 'stream'],
  subtle: ['subtle'],
}

/** `globalThis`: code may go on to look for any of them by a name that it computes. */
const everything = /\bglobalThis\b/

const mentions: Record<Exclude<GroupName, 'node'>, RegExp> = {
  web: wordsOf([...globalsOf.web, ...globalsOf.streams, ...globalsOf.subtle]),
  streams: new RegExp(`\\.body\\b|${wordsOf([...globalsOf.streams, ...members.streams]).source}`),
  subtle: wordsOf([...globalsOf.subtle, ...members.subtle]),
  buffer: wordsOf(globalsOf.buffer),
}

/**
 * Says which groups a bundle needs, in the order in which they are evaluated. What only members ask for is left out
 * where nothing of the web is mentioned: then there is no object that has them.
 */
export function groupsFor(kind: BundleKind, code: string): GroupName[] {
  const isSdk = kind === 'sdk'
  if (everything.test(code)) return groupNames.filter((name) => isSdk || name !== 'node')
  const usesWeb = isSdk || mentions.web.test(code)
  const needs: Record<GroupName, boolean> = {
    web: usesWeb,
    streams: usesWeb && mentions.streams.test(code),
    subtle: usesWeb && mentions.subtle.test(code),
    buffer: isSdk || mentions.buffer.test(code),
    node: isSdk,
  }
  return groupNames.filter((name) => needs[name])
}

function wordsOf(words: readonly string[]): RegExp {
  return new RegExp(`\\b(?:${words.join('|')})\\b`)
}
