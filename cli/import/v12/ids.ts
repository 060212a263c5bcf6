/** Makes ids from names: letters, digits, `_` and `-`, and unique, also as names of files where letter case makes no difference. */
export class Ids {
  readonly #taken = new Set<string>()
  readonly #maxLength: number

  /** @param maxLength characters of an id */
  constructor(maxLength = 64) {
    this.#maxLength = maxLength
  }

  /** @param otherwise the id of a name without a usable character */
  make(name: string, otherwise = 'item'): string {
    const plain = name
      .normalize('NFD')
      .replaceAll(/[\u0300-\u036F]/g, '')
      .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .slice(0, this.#maxLength)
    const base = plain === '' ? otherwise : plain
    for (let count = 1; ; count += 1) {
      const suffix = count === 1 ? '' : `_${count}`
      const id = base.slice(0, this.#maxLength - suffix.length) + suffix
      if (this.#taken.has(id.toLowerCase())) continue
      this.#taken.add(id.toLowerCase())
      return id
    }
  }
}
