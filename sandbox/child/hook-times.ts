/** More than anybody looks at. */
const maxHooks = 40

/** What was at work in a run, and since when. */
export class HookTimes {
  readonly #begunAt = performance.now()
  readonly #starts: [name: string, start: number][] = []

  add(name: string): void {
    if (name !== '' && this.#starts.length < maxHooks) this.#starts.push([name, this.#now()])
  }

  /** As the frame `done` has it, for a run that ends now. */
  toText(): string {
    return this.#starts.length === 0 ? '' : JSON.stringify([this.#now(), ...this.#starts])
  }

  /** Milliseconds since the run began. */
  #now(): number {
    return Math.round((performance.now() - this.#begunAt) * 10) / 10
  }
}
