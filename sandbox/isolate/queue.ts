import { create } from './primordials.ts'

/** First in, first out. Not an array, because bot code can plant setters on `Array.prototype`. */
export interface Queue<Item> {
  readonly length: number
  push(item: Item): void
  first(): Item | undefined
  shift(): Item | undefined
}

export function createQueue<Item>(): Queue<Item> {
  const items = create(null) as Record<number, Item>
  let head = 0
  let tail = 0
  return {
    get length() {
      return tail - head
    },
    push(item) {
      items[tail] = item
      tail += 1
    },
    first: () => items[head],
    shift() {
      const item = items[head]
      if (head === tail) return undefined
      delete items[head]
      head += 1
      return item
    },
  }
}
