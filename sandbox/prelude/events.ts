import { Event, type EventOptions } from './event-target.ts'

/** The web's `CustomEvent`. */
export class CustomEvent extends Event {
  readonly #detail: unknown

  constructor(type: unknown, options?: (EventOptions & { detail?: unknown }) | null) {
    super(type, options)
    this.#detail = options?.detail ?? null
  }

  get detail(): unknown {
    return this.#detail
  }

  override get [Symbol.toStringTag](): string {
    return 'CustomEvent'
  }
}
