import { globalsNamed } from '../../prelude/globals.ts'
import { GuardedDispatcher } from '../undici/dispatcher.ts'
import { llhttpProgram } from '../undici/llhttp.ts'
import { defineSyncProgram } from '../web-assembly.ts'
import type { Provide } from '../provide.ts'

/** The names under which versions of undici look for the dispatcher of requests that name none. */
const globalNames = ['undici.globalDispatcher.1', 'undici.globalDispatcher.2']

/**
 * Has copies of `undici` in bundles send their requests as the platform's `fetch` does, and provides as much of it as packages ask for
 * that leave it out of their bundles.
 */
export const provide: Provide = () => {
  defineSyncProgram(llhttpProgram)
  const value = new GuardedDispatcher()
  for (const name of globalNames) {
    Object.defineProperty(globalThis, Symbol.for(name), { value, writable: true, configurable: true })
  }
  return {
    undici: () => ({
      ...globalsNamed(['FormData', 'Headers', 'Request', 'Response']),
      fetch,
      Agent: GuardedDispatcher,
    }),
  }
}
