/** Makes ids from names: letters, digits, `_` and `-`, and unique, also as names of files where letter case makes no difference. */
export class Ids {
  readonly #taken = new Set<string>()
  readonly #most: number

  /** @param most characters of an id */
  constructor(most = 64) {
    this.#most = most
  }

  /** @param otherwise the id of a name without a usable character */
  make(name: string, otherwise = 'item'): string {
    const plain = name
      .normalize('NFD')
      .replaceAll(/[\u0300-\u036F]/g, '')
      .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .slice(0, this.#most)
    const base = plain === '' ? otherwise : plain
    for (let count = 1; ; count += 1) {
      const suffix = count === 1 ? '' : `_${count}`
      const id = base.slice(0, this.#most - suffix.length) + suffix
      if (this.#taken.has(id.toLowerCase())) continue
      this.#taken.add(id.toLowerCase())
      return id
    }
  }
}
