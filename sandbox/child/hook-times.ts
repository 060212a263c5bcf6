/** Above the number that is useful to a reader; the cards of a flow are the most. */
const maxHooks = 240

/** The active functions of a run, with their start times. */
export class HookTimes {
  readonly #begunAt = performance.now()
  readonly #starts: [name: string, start: number][] = []

  add(name: string): void {
    if (name !== '' && this.#starts.length < maxHooks) this.#starts.push([name, this.#now()])
  }

  /** The text of the field `hooks` in the frame that ends the run; called when the run ends. */
  toText(): string {
    return this.#starts.length === 0 ? '' : JSON.stringify([this.#now(), ...this.#starts])
  }

  /** Milliseconds since the run began. */
  #now(): number {
    return Math.round((performance.now() - this.#begunAt) * 10) / 10
  }
}
