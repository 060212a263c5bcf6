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
}
