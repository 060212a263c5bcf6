import { OutboundError } from './errors.ts'
import { megabyte } from '#shared/units.ts'

/** Six of the largest responses. */
const maxBytesPerTenant = 64 * megabyte
const maxBytes = 192 * megabyte

/** The memory of one request; disposing releases it. */
export interface MemoryShare extends Disposable {
  /** @throws OutboundError `busy` when the budget would be exceeded */
  add(bytes: number): void
}

/**
 * Counts the memory that requests hold in this process, so that a bot that requests large responses in many conversations
 * at the same time fails, and not the worker.
 */
export class ResponseMemoryBudget {
  readonly #bytes = new Map<string, number>()
  #all = 0

  /** @param tenant the owner of the request */
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
