import type { FlowPlace } from './check-flows.ts'

/** The text of a script of flows while it is written, with the place of each function in it. */
export class ScriptText {
  readonly #lines: string[] = []
  readonly #places = new Map<number, FlowPlace>()
  #line = ''

  add(text: string): void {
    this.#line += text
  }

  /** Adds a function on lines of its own, so that an error of the compiler names a line of it. */
  addFunction(head: string, body: string, tail: string, place: FlowPlace): void {
    this.#endLine()
    const first = this.#lines.length + 1
    for (const line of `${head}${body}\n${tail}`.split('\n')) this.#lines.push(line)
    for (let number = first; number <= this.#lines.length; number += 1) this.#places.set(number, place)
  }

  /** The text, to be called when it is complete. */
  finish(): string {
    this.#endLine()
    return this.#lines.join('\n')
  }

  /** The place of the function at a line from 1, or of the last one before: a bracket too many is noticed after the expression. */
  placeOf(number: number): FlowPlace | undefined {
    for (let at = number; at > 0; at -= 1) if (this.#places.has(at)) return this.#places.get(at)
    return undefined
  }

  #endLine(): void {
    this.#lines.push(this.#line)
    this.#line = ''
  }
}
