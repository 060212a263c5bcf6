/**
 * The globals of the web that no isolate has by itself. It runs in the isolate, in the same realm as bot code, after the
 * kernel and before the bundle. Nothing here keeps anybody from anything: whatever it can do, bot code may do without it.
 */

/* oxlint-disable import/no-unassigned-import -- core-js defines globals. */

import 'core-js/web/dom-exception'
import 'core-js/web/url'
import 'core-js/web/url-search-params'
import 'core-js/web/structured-clone'
import 'core-js/stable/atob'
import 'core-js/stable/btoa'
import { Buffer } from 'buffer'
import { Event, EventTarget } from 'event-target-shim'
import type { Platform } from '../inside/platform.ts'
import { AbortController, AbortSignal } from './abort.ts'
import { createCrypto, type WebCrypto } from './crypto.ts'
import { TextDecoder, TextEncoder } from './encoding.ts'
import { createFetch } from './fetch.ts'
import { defineGlobals } from './globals.ts'
import { Headers } from './headers.ts'
import { Request } from './request.ts'
import { Response } from './response.ts'

/** Defines the globals, and gives back `crypto`. `process/preludes.ts` knows their names. */
export function defineWeb(platform: Platform): WebCrypto {
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
  })
  return crypto
}

/** Milliseconds are enough, and finer clocks help those who measure what they should not see. */
function createPerformance(): { now(): number; timeOrigin: number } {
  const timeOrigin = Date.now()
  return { timeOrigin, now: () => Date.now() - timeOrigin }
}
