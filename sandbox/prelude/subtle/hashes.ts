import { sha1 } from '@noble/hashes/legacy.js'
import { sha384, sha512 } from '@noble/hashes/sha2.js'
import type { CHash } from '@noble/hashes/utils.js'
import { toText } from '../text.ts'
import { notSupported } from './key.ts'
import { forLargeContents } from './large-contents.ts'
import { sha256 } from './sha256.ts'

const hashes: Record<string, CHash> = {
  'SHA-1': forLargeContents('sha1', sha1),
  'SHA-256': forLargeContents('sha256', sha256),
  'SHA-384': forLargeContents('sha384', sha384),
  'SHA-512': forLargeContents('sha512', sha512),
}

export interface NamedHash {
  name: string
  hash: CHash
}

/** Finds a hash by its name, or by an object with its name. */
export function hashOf(value: unknown): NamedHash {
  const given: unknown = typeof value === 'object' && value !== null ? (value as { name?: unknown }).name : value
  if (given === undefined)
    throw new TypeError(`The algorithm names no hash: use one of ${Object.keys(hashes).join(', ')}`)
  const name = toText(given).toUpperCase()
  const hash = Object.hasOwn(hashes, name) ? hashes[name] : undefined
  if (hash === undefined) {
    throw notSupported(`The hash '${toText(given)}' is not supported, only ${Object.keys(hashes).join(', ')}`)
  }
  return { name, hash }
}
