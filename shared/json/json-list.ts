/**
 * A list whose elements are held as bytes of JSON, outside of V8's heap: parsed values take up to twenty times their
 * bytes. Elements are parsed one at a time, so that no turn of the event loop parses all of them.
 */
export class JsonList<Element = unknown> {
  #elements: Buffer[][] = []
  #bytes = 0

  get length(): number {
    return this.#elements.length
  }

  /** Of the JSON of all elements. */
  get bytes(): number {
    return this.#bytes
  }

  add(element: Element): void {
    this.addText([Buffer.from(JSON.stringify(element))])
  }

  /** @param parts of the JSON of an element; whether it is JSON shows when it is parsed */
  addText(parts: Buffer[]): void {
    this.#elements.push(parts)
    for (const { length } of parts) this.#bytes += length
  }

  /**
   * Parses the elements in turn, and releases each.
   * @throws SyntaxError for an element that is no JSON
   */
  *drain(): Generator<Element> {
    for (const [index, parts] of this.#elements.entries()) {
      this.#elements[index] = []
      yield parse(parts) as Element
    }
  }

  /** The JSON of the list, in parts. */
  *texts(): Generator<Buffer> {
    yield Buffer.from('[')
    for (const [index, parts] of this.#elements.entries()) {
      if (index > 0) yield comma
      yield* parts
    }
    yield Buffer.from(']')
  }

  /** The list in the type that it has for readers of its JSON. */
  asArray(): Element[] {
    return this as unknown as Element[]
  }

  toJSON(): Element[] {
    return this.#elements.map((parts) => parse(parts) as Element)
  }
}

const comma = Buffer.from(',')

function parse(parts: Buffer[]): unknown {
  return JSON.parse(parts.length === 1 ? parts[0]!.toString() : Buffer.concat(parts).toString())
}
