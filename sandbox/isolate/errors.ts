import type { FailureReason } from '../protocol/contract.ts'
import { placeAt, type CallSite } from './call-site.ts'
import { describeCauses } from './causes.ts'
import { inspectForLog, unreadable } from './inspect/inspect.ts'
import {
  defineProperty,
  hasOwn,
  isObject,
  NativeError,
  NativeTypeError,
  NativeWeakMap,
  record,
  sliceText,
  stringify,
  weakMapGet,
  weakMapSet,
} from './primordials.ts'
import { redact } from './secrets.ts'
import { botFrames } from './stack.ts'

const nameCharacters = 100
const messageCharacters = 1000

const limitReasons = new NativeWeakMap<object, string>()

/** Makes an error for an exceeded limit. If the run fails with it, the limit is the reason of the failure. */
export function limitError(reason: FailureReason, name: string, message: string, site?: CallSite): Error {
  const error = new NativeError(message)
  if (site !== undefined) placeAt(site, name, error)
  define(error, 'name', name, false)
  weakMapSet(limitReasons, error, reason)
  return error
}

/** The reason of a run's failure, given the value that it threw. */
export function reasonOf(thrown: unknown): string {
  return isObject(thrown) ? (weakMapGet(limitReasons, thrown) ?? 'error') : 'error'
}

/** The error of a call that the platform refused, with the platform's message. */
export function apiError(status: number, body: unknown, site: CallSite): Error {
  const message = read(body, 'message')
  const error = new NativeError(typeof message === 'string' ? message : `The platform answered with status ${status}`)
  define(error, 'name', 'ApiError', false)
  define(error, 'id', read(body, 'id'), true)
  define(error, 'code', read(body, 'code') ?? status, true)
  define(error, 'type', read(body, 'type'), true)
  placeAt(site, 'ApiError', error)
  const metadata = read(body, 'metadata')
  if (metadata !== undefined) define(error, 'metadata', metadata, true)
  return error
}

function read(body: unknown, property: string): unknown {
  return isObject(body) && hasOwn(body, property) ? body[property] : undefined
}

function define(error: Error, property: string, value: unknown, enumerable: boolean): void {
  defineProperty(error, property, record({ value, enumerable, writable: true, configurable: true }))
}

/** Describes any thrown value as the text of a `RunError`. In an inspection, `hook` names the function at fault. */
export function describeError(thrown: unknown, hook?: string): string {
  const described = record({ name: 'Error', message: 'It threw a value that cannot be described', stack: '', hook })
  try {
    if (isObject(thrown)) {
      const { name, message, stack } = thrown
      if (typeof name === 'string') described.name = sliceText(redact(name), 0, nameCharacters)
      described.message = sliceText(redact(typeof message === 'string' ? message : show(thrown)), 0, messageCharacters)
      if (typeof stack === 'string') described.stack = botFrames(redact(stack))
      described.stack += describeCauses(thrown)
    } else {
      described.message = sliceText(redact(typeof thrown === 'string' ? thrown : show(thrown)), 0, messageCharacters)
    }
  } catch {
    // A getter or a proxy threw in turn; the fields read before remain.
  }
  return stringify(described)
}

/** @throws TypeError for a value that cannot be read */
function show(thrown: unknown): string {
  const text = inspectForLog(thrown)
  if (text === unreadable) throw new NativeTypeError(text)
  return text
}
