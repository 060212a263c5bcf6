import { membership } from './session.ts'

/**
 * Texts that members have changed and neither sent nor deployed. They outlive the page that they were written on, and a
 * sign-out; only the member who wrote a text sees it again.
 */
export class Drafts<T> {
  readonly #drafts = new Map<string, T>()

  get(key: string): T | undefined {
    return this.#drafts.get(this.#keyOf(key))
  }

  has(key: string): boolean {
    return this.#drafts.has(this.#keyOf(key))
  }

  set(key: string, draft: T): void {
    this.#drafts.set(this.#keyOf(key), draft)
  }

  delete(key: string): void {
    this.#drafts.delete(this.#keyOf(key))
  }

  #keyOf(key: string): string {
    return `${membership.value?.id} ${key}`
  }
}
