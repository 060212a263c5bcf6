/** Counts the bytes of bodies that this process holds, those of each tenant too: one tenant cannot take all the room. */
export class BodyRoom {
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

  /** Whether there is room for more bytes. */
  fits(tenant: string, bytes: number): boolean {
    const ofTenant = (this.#byTenant.get(tenant) ?? 0) + bytes
    return ofTenant <= this.#maxBytesOfTenant && this.#bytes + bytes <= this.#maxBytes
  }

  /** @param bytes negative to give them back */
  add(tenant: string, bytes: number): void {
    const ofTenant = (this.#byTenant.get(tenant) ?? 0) + bytes
    if (ofTenant > 0) this.#byTenant.set(tenant, ofTenant)
    else this.#byTenant.delete(tenant)
    this.#bytes += bytes
  }
}
