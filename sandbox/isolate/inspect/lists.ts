import { setPrototypeOf } from '../primordials.ts'

/** A list without a prototype: no setter that bot code plants on `Array.prototype` sees its entries. */
export interface List<Entry> {
  readonly length: number
  [index: number]: Entry
}

export function createList<Entry>(): List<Entry> {
  return setPrototypeOf([] as Entry[], null) as Entry[]
}

export function add<Entry>(list: List<Entry>, entry: Entry): void {
  list[list.length] = entry
}

export function join(list: List<string>, separator: string): string {
  let text = ''
  for (let index = 0; index < list.length; index += 1) text += (index === 0 ? '' : separator) + list[index]!
  return text
}
