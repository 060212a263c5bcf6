/**
 * The lightweight globals of the web that isolates lack. They run in the realm of the bot code, after the kernel and
 * before the bundle. This code is no security boundary: bot code may do anything that it can.
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
import { defineInspected } from './inspected.ts'
import { Request } from './request.ts'
import { Response } from './response.ts'
import { structuredClone } from './structured-clone.ts'
import { URLSearchParams } from './url/search-params.ts'
import { URL } from './url/url.ts'

/** Defines the globals named in `groups.ts`. */
export function defineWeb(platform: Platform): void {
  defineInspected({ AbortSignal, Blob, File, FormData, Headers, Request, Response, URL, URLSearchParams })
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

/** Milliseconds suffice, and finer clocks would help timing attacks. */
function createPerformance(): { now(): number; timeOrigin: number } {
  const timeOrigin = Date.now()
  return { timeOrigin, now: () => Date.now() - timeOrigin }
}
