import { OutboundError } from './errors.ts'

const megabyte = 1024 * 1024

/** Six of the largest answers. */
const maxBytesPerTenant = 64 * megabyte
const maxBytes = 192 * megabyte

/** What one request holds; disposing gives it back. */
export interface MemoryShare extends Disposable {
  /** @throws OutboundError `busy` when it would be too much */
  add(bytes: number): void
}

/**
 * Counts what requests hold in this process at the moment, so that a bot that asks for large answers in many
 * conversations at once fails, and not the worker.
 */
export class ResponseMemoryBudget {
  readonly #bytes = new Map<string, number>()
  #all = 0

  /** @param tenant whose request it is */
  open(tenant: string): MemoryShare {
    let own = 0
    const take = (bytes: number): void => {
      own += bytes
      this.#all += bytes
      const left = this.#of(tenant) + bytes
      if (left > 0) this.#bytes.set(tenant, left)
      else this.#bytes.delete(tenant)
    }
    return {
      add: (bytes) => {
        if (this.#of(tenant) + bytes > maxBytesPerTenant || this.#all + bytes > maxBytes) throw busy()
        take(bytes)
      },
      [Symbol.dispose]: () => take(-own),
    }
  }

  #of(tenant: string): number {
    return this.#bytes.get(tenant) ?? 0
  }
}

function busy(): OutboundError {
  return new OutboundError('busy', 'Too many large responses are being read: try again later')
}
