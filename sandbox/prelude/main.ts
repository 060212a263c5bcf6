/**
 * What SDK bundles find around them: the globals and modules of Node and the web that the public SDK, its HTTP client
 * and what people bundle with them touch. It runs in the isolate, in the same realm as bot code, after the kernel and
 * before the bundle. Nothing here keeps anybody from anything: whatever it can do, bot code may do without it.
 */

/* oxlint-disable import/no-unassigned-import -- core-js defines globals. */

// Libraries look at `process` while they load.
import { environment } from './process.ts'
import 'core-js/stable/atob'
import 'core-js/stable/btoa'
import 'core-js/web/dom-exception'
import 'core-js/web/structured-clone'
import 'core-js/web/url'
import 'core-js/web/url-search-params'
import { Buffer } from 'buffer'
import { Event, EventTarget } from 'event-target-shim'
import type { Platform, Prelude } from '../inside/platform.ts'
import { AbortController, AbortSignal } from './abort.ts'
import { createCrypto } from './crypto.ts'
import { TextDecoder, TextEncoder } from './encoding.ts'
import { createFetch } from './fetch.ts'
import { defineGlobals } from './globals.ts'
import { Headers } from './headers.ts'
import { createRequire } from './modules.ts'
import { Request } from './request.ts'
import { Response } from './response.ts'

/** Defines the globals, and gives back the `require` that the bundle gets. */
export const install: Prelude = (platform) => {
  fillEnvironment(platform)
  const crypto = createCrypto(platform.seed)
  defineGlobals({
    AbortController,
    AbortSignal,
    Buffer,
    Event,
    EventTarget,
    Headers,
    Request,
    Response,
    TextDecoder,
    TextEncoder,
    crypto,
    fetch: createFetch(platform),
    performance: createPerformance(),
    setImmediate: (callback: unknown, ...values: unknown[]) =>
      setTimeout(callback as (...values: unknown[]) => void, 0, ...values),
    clearImmediate: (id: number) => clearTimeout(id),
  })
  return createRequire(crypto)
}

function fillEnvironment({ environment: given, token }: Platform): void {
  Object.assign(environment, given)
  Object.defineProperty(environment, 'BP_TOKEN', { get: token, enumerable: true, configurable: true })
}

/** Milliseconds are enough, and finer clocks help those who measure what they should not see. */
function createPerformance(): { now(): number; timeOrigin: number } {
  const timeOrigin = Date.now()
  return { timeOrigin, now: () => Date.now() - timeOrigin }
}
