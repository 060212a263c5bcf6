/**
 * The globals of the web that no isolate has by itself, as far as they are light. They run in the isolate, in the same
 * realm as bot code, after the kernel and before the bundle. Nothing here keeps anybody from anything: whatever it can do,
 * bot code may do without it.
 */

import type { Platform } from '../isolate/platform.ts'
import { AbortController, AbortSignal } from './abort.ts'
import { atob, btoa } from './base64.ts'
import { Blob, File } from './blob.ts'
import { createCrypto } from './crypto.ts'
import { TextDecoder, TextEncoder } from './encoding.ts'
import { Event, EventTarget } from './event-target.ts'
import { CustomEvent } from './events.ts'
import { DOMException } from './exceptions.ts'
import { createFetch } from './fetch.ts'
import { FormData } from './form-data.ts'
import { defineGlobals } from './globals.ts'
import { Headers } from './headers.ts'
import { Request } from './request.ts'
import { Response } from './response.ts'
import { structuredClone } from './structured-clone.ts'
import { URLSearchParams } from './url/search-params.ts'
import { URL } from './url/url.ts'

/** Defines the globals; `groups.ts` tells their names. */
export function defineWeb(platform: Platform): void {
  defineGlobals({
    AbortController,
    AbortSignal,
    Blob,
    CustomEvent,
    DOMException,
    Event,
    EventTarget,
    File,
    FormData,
    Headers,
    Request,
    Response,
    TextDecoder,
    TextEncoder,
    URL,
    URLSearchParams,
    atob,
    btoa,
    crypto: createCrypto(platform.seed),
    fetch: createFetch(platform),
    performance: createPerformance(),
    structuredClone,
  })
}

/** Milliseconds are enough, and finer clocks help those who measure what they should not see. */
function createPerformance(): { now(): number; timeOrigin: number } {
  const timeOrigin = Date.now()
  return { timeOrigin, now: () => Date.now() - timeOrigin }
}
