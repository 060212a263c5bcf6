import { unavailable } from './unavailable.ts'

/** Makes the web's `Crypto`, of which `crypto` becomes the only object. */
export function nameCrypto(): Record<string, unknown> {
  class Crypto {
    constructor() {
      throw new TypeError('Illegal constructor')
    }

    get [Symbol.toStringTag](): string {
      return 'Crypto'
    }
  }
  Object.setPrototypeOf(crypto, Crypto.prototype)
  return { Crypto }
}

/** Makes `navigator`, with fixed answers that say nothing of the machine. */
export function createNavigation(): Record<string, unknown> {
  const construct = Symbol('construct')
  class Navigator {
    constructor(key?: symbol) {
      if (key !== construct) throw new TypeError('Illegal constructor')
    }

    get hardwareConcurrency(): number {
      return 1
    }

    get language(): string {
      return 'en-US'
    }

    get languages(): readonly string[] {
      return ['en-US']
    }

    get platform(): string {
      return 'linux'
    }

    get userAgent(): string {
      return 'Node.js/24'
    }

    get [Symbol.toStringTag](): string {
      return 'Navigator'
    }
  }
  return { Navigator, navigator: new Navigator(construct) }
}

/** Makes a class that code can name, derive from and compare with, and not construct. */
export function createWebSocket(): Record<string, unknown> {
  const states = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 }
  const WebSocket = Object.assign(unavailable('WebSocket', 'the package ws opens WebSockets'), states)
  Object.setPrototypeOf(WebSocket.prototype, EventTarget.prototype)
  return { WebSocket }
}

/**
 * Makes a registry that never calls back, as the language allows: isolates have no finalizers, which would run outside of every
 * turn.
 */
export function createRegistry(): Record<string, unknown> {
  class FinalizationRegistry {
    constructor(cleanUp: unknown) {
      if (typeof cleanUp !== 'function') throw new TypeError('FinalizationRegistry: cleanup must be callable')
    }

    register(): void {}

    unregister(): boolean {
      return false
    }

    get [Symbol.toStringTag](): string {
      return 'FinalizationRegistry'
    }
  }
  return { FinalizationRegistry }
}
