import { Event } from 'event-target-shim'

type EventOptions = ConstructorParameters<typeof Event>[1]

/** The web's `CustomEvent`. */
export class CustomEvent extends Event {
  readonly detail: unknown

  constructor(type: string, options?: EventOptions & { detail?: unknown }) {
    super(type, options)
    this.detail = options?.detail ?? null
  }
}
