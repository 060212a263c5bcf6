import type { Duplex } from 'stream'
import { urlToHttpOptions } from '../url.ts'
import type { Agent } from './agent.ts'
import { codedError } from '../../prelude/node-errors.ts'

/** The options of `http.request` that have an effect here. */
export interface RequestOptions {
  protocol?: string
  hostname?: string | null
  host?: string | null
  port?: number | string | null
  defaultPort?: number
  path?: string
  method?: string
  headers?: unknown
  auth?: string | null
  agent?: (Partial<Agent> & { options?: { timeout?: number } }) | false
  timeout?: number
  signal?: AbortSignal
  socketPath?: string
  /** Has an effect for a request that asks for another protocol. */
  createConnection?: (options: object) => Duplex
}

/** Merges the arguments of `http.request`: an address, options, and a listener. */
export function toOptions(values: unknown[]): { options: RequestOptions; listener: unknown } {
  const [first, second, third] = values
  const isAddress = typeof first === 'string' || first instanceof URL
  const address = isAddress ? urlToHttpOptions(new URL(first)) : {}
  const given = isAddress ? second : first
  const listener = [second, third].find((each) => typeof each === 'function')
  const options: RequestOptions = { ...address, ...(typeof given === 'object' ? given : {}) }
  return { options, listener }
}

/** The address of a request. */
export function addressOf(options: RequestOptions, protocol: string): { url: string; host: string; path: string } {
  const name = options.hostname || options.host || 'localhost'
  const path = options.path || '/'
  if (/[\0-\x20]/.test(path)) {
    throw codedError('ERR_UNESCAPED_CHARACTERS', 'Request path contains unescaped characters', TypeError)
  }
  const host = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
  const usual = protocol === 'https:' ? 443 : 80
  const port = Number(options.port || options.defaultPort || usual)
  const authority = port === usual ? host : `${host}:${port}`
  // A proxy would be given a whole address as the path; there is none.
  return { url: /^https?:\/\//i.test(path) ? path : `${protocol}//${authority}${path}`, host: authority, path }
}
