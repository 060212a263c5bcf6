import { ByteBudget, type ByteShare } from '#shared/byte-budget.ts'
import { OutboundError } from './errors.ts'
import { megabyte } from '#shared/units.ts'

/** Six of the largest responses. */
const maxBytesPerTenant = 64 * megabyte
const maxBytes = 192 * megabyte

/**
 * Counts the memory that requests hold in this process, so that a bot that requests large responses in many conversations
 * at the same time fails, and not the worker.
 */
export class ResponseMemoryBudget {
  readonly #budget = new ByteBudget(maxBytes, maxBytesPerTenant)

  /**
   * Opens the share of a request, which refuses with OutboundError `busy`.
   *
   * @param tenant the owner of the request
   */
  open(tenant: string): ByteShare {
    return this.#budget.open(tenant, busy)
  }
}

function busy(): OutboundError {
  return new OutboundError('busy', 'Too many large responses are being read: try again later')
}
