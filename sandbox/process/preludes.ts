import type { BundleSource } from '../protocol.ts'
import type { Ivm } from './isolated-vm.ts'
import { Prelude } from './prelude.ts'

/** What `prelude/define-web.ts` defines. */
const webNames = [
  'AbortController',
  'AbortSignal',
  'Buffer',
  'DOMException',
  'Event',
  'EventTarget',
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
]

/** `globalThis`: code may go on to look for any of them by a name that it computes. */
const mention = new RegExp(`\\b(?:globalThis|${webNames.join('|')})\\b`)

/**
 * Chooses what an isolate starts with. The globals of the web are there for native bundles that mention one of them:
 * evaluating them takes as long as the rest of a start.
 */
export class Preludes {
  readonly #web: Prelude
  readonly #sdk: Prelude

  constructor({ ivm, web, sdk }: { ivm: Ivm; web: string; sdk: string }) {
    this.#web = new Prelude(ivm, web)
    this.#sdk = new Prelude(ivm, sdk)
  }

  /** The prelude of a bundle; undefined when it needs none. */
  for({ kind, code }: Pick<BundleSource, 'kind' | 'code'>): Prelude | undefined {
    if (kind === 'sdk') return this.#sdk
    return mention.test(code) ? this.#web : undefined
  }
}
