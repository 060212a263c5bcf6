/** Recognises messages by examples: equal after normalising, else by the words that they share. */

export interface Intent {
  name: string
  examples: string[]
}

export interface Match {
  intent: { name: string; confidence: number; context: string }
}

/** The share of common words from which a message matches an example. */
const threshold = 0.6

export function createMatcher(intents: readonly Intent[]): (text: string) => Match {
  const equal = new Map<string, string>()
  const examples: { name: string; words: Set<string> }[] = []
  const counts = new Map<string, number>()
  for (const { name, examples: texts } of intents) {
    for (const text of texts) {
      const words = wordsOf(text)
      if (words.size === 0) continue
      equal.set([...words].join(' '), name)
      examples.push({ name, words })
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
    }
  }
  // Words of many examples say little.
  const weightOf = (word: string) => Math.log(1 + examples.length / (counts.get(word) ?? 0.5))
  const sumOf = (words: Iterable<string>) => [...words].reduce((sum, word) => sum + weightOf(word), 0)
  const weighted = examples.map((example) => ({ ...example, sum: sumOf(example.words) }))
  return (text) => {
    const words = wordsOf(text.slice(0, 500))
    const same = equal.get([...words].join(' '))
    if (words.size > 0 && same !== undefined) return toMatch(same, 1)
    const sum = sumOf(words)
    let best = { name: 'none', score: 0 }
    for (const example of weighted) {
      const shared = sumOf([...words].filter((word) => example.words.has(word)))
      const score = (2 * shared) / (sum + example.sum || 1)
      if (score > best.score) best = { name: example.name, score }
    }
    return best.score >= threshold ? toMatch(best.name, best.score) : toMatch('none', 1)
  }
}

function toMatch(name: string, confidence: number): Match {
  return { intent: { name, confidence, context: 'global' } }
}

/** Words without case, accents and punctuation. */
function wordsOf(text: string): Set<string> {
  const plain = text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036F]/g, '')
  return new Set(plain.match(/[\p{L}\p{N}]+/gu))
}
