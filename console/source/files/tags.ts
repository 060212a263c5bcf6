/**
 * Reads tags such as `topic=shop, language=en`.
 *
 * @throws Error that shows the part without a name and a value
 */
export function parseTags(text: string): Record<string, string> {
  const pairs = text.split(',').filter((part) => part.trim() !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=')
      if (value.length === 0 || name.trim() === '') throw new Error(`Write tags as name=value, not “${pair.trim()}”`)
      return [name.trim(), value.join('=').trim()]
    }),
  )
}

/** The filter by tags for the files of a knowledge base; of all files where the id is empty. */
export function tagsOfKnowledgeBase(id: string): Record<string, string> {
  return id === '' ? {} : { source: 'knowledge-base', kbId: id }
}
