/** Items between two brackets: on one line if they fit, otherwise one item per line. */
export interface Block {
  /** Adds an item. Returns `false` when the caller must add no more. */
  add(item: string): boolean
  close(bracket: string): string
}

const lineCharacters = 76
const itemsShown = 100

/** The number of characters that all blocks of one inspection may still add. */
export interface Budget {
  left: number
}

export function openBlock(bracket: string, depth: number, budget: Budget): Block {
  let indentation = '\n'
  for (let level = 0; level <= depth; level += 1) indentation += '  '
  let oneLine = ''
  let manyLines = ''
  let items = 0

  const append = (item: string) => {
    oneLine += (items === 0 ? ' ' : ', ') + item
    manyLines += (items === 0 ? '' : ',') + indentation + item
    items += 1
  }

  return {
    add(item) {
      budget.left -= item.length
      const more = items < itemsShown && budget.left > 0
      append(more ? item : '...')
      return more
    },
    close(closing) {
      if (items === 0) return bracket + closing
      if (oneLine.length <= lineCharacters) return `${bracket}${oneLine} ${closing}`
      let outdent = '\n'
      for (let level = 0; level < depth; level += 1) outdent += '  '
      return bracket + manyLines + outdent + closing
    },
  }
}
