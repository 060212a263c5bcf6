/** The bytes that one piece of work holds; disposing releases them. */
export interface ByteShare extends Disposable {
  /** @throws the refusal of the share when the bytes exceed a limit of the budget */
  add(bytes: number): void
}

/** Counts the bytes of contents that this process holds, in total and per tenant, so that no tenant uses all memory. */
export class ByteBudget {
  readonly #maxBytes: number
  readonly #maxBytesOfTenant: number
  readonly #byTenant = new Map<string, number>()
  #bytes = 0

  constructor(maxBytes: number, maxBytesOfTenant: number) {
    this.#maxBytes = maxBytes
    this.#maxBytesOfTenant = maxBytesOfTenant
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether the bytes stay within both limits. */
  fits(tenant: string, bytes: number): boolean {
    const ofTenant = (this.#byTenant.get(tenant) ?? 0) + bytes
    return ofTenant <= this.#maxBytesOfTenant && this.#bytes + bytes <= this.#maxBytes
  }

  /** @param bytes negative to release them */
  add(tenant: string, bytes: number): void {
    const ofTenant = (this.#byTenant.get(tenant) ?? 0) + bytes
    if (ofTenant > 0) this.#byTenant.set(tenant, ofTenant)
    else this.#byTenant.delete(tenant)
    this.#bytes += bytes
  }

  /** @param refusal makes the error for bytes that do not fit */
  open(tenant: string, refusal: () => Error): ByteShare {
    let own = 0
    return {
      add: (bytes) => {
        if (!this.fits(tenant, bytes)) throw refusal()
        own += bytes
        this.add(tenant, bytes)
      },
      [Symbol.dispose]: () => {
        this.add(tenant, -own)
        own = 0
      },
    }
  }
}
