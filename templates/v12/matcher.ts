/** Recognises messages by examples: equal after normalising, else by the groups of three letters that they share. */

export interface Intent {
  name: string
  examples: string[]
}

export interface Match {
  intent: { name: string; confidence: number; context: string }
}

/** The score from which a message is recognised. Of messages that belong to other public bots, 4 % reach it. */
const threshold = 0.3

/** How much the most similar examples of an intent count, the first one most. */
const ranks = [0.6, 0.25, 0.15]

export function createMatcher(intents: readonly Intent[]): (text: string) => Match {
  let score: ((text: string) => { name: string; score: number }) | undefined
  const equal = new Map<string, string>()
  for (const { name, examples } of intents) for (const text of examples) equal.set(wordsOf(text).join(' '), name)
  return (text) => {
    const words = wordsOf(text.slice(0, 500))
    if (words.length === 0) return toMatch('none', 1)
    const same = equal.get(words.join(' '))
    if (same !== undefined) return toMatch(same, 1)
    score ??= createScore(intents)
    const best = score(words.join(' '))
    return best.score >= threshold ? toMatch(best.name, Math.min(1, best.score)) : toMatch('none', 1)
  }
}

/** Compares texts with examples by the cosine of their groups of letters; those of many examples count little. */
function createScore(intents: readonly Intent[]): (text: string) => { name: string; score: number } {
  const examples = intents.flatMap(({ name, examples: texts }) =>
    texts.map((text) => ({ name, groups: groupsOf(text) })),
  )
  const counts = new Map<string, number>()
  for (const { groups } of examples) for (const group of groups.keys()) counts.set(group, (counts.get(group) ?? 0) + 1)
  const weigh = (groups: Map<string, number>) => {
    const weights = Array.from(groups, ([group, count]) => {
      const rarity = Math.log(1 + examples.length / (counts.get(group) ?? 0.5))
      return [group, (1 + Math.log(count)) * rarity] as const
    })
    const length = Math.sqrt(weights.reduce((sum, [, weight]) => sum + weight * weight, 0))
    return weights.map(([group, weight]) => [group, weight / (length || 1)] as const)
  }
  /** The examples that have a group, by their index. */
  const having = new Map<string, [index: number, weight: number][]>()
  for (const [index, { groups }] of examples.entries()) {
    for (const [group, weight] of weigh(groups)) {
      const list = having.get(group)
      if (list === undefined) having.set(group, [[index, weight]])
      else list.push([index, weight])
    }
  }
  return (text) => {
    const similarities = new Map<number, number>()
    for (const [group, own] of weigh(groupsOf(text))) {
      for (const [index, weight] of having.get(group) ?? []) {
        similarities.set(index, (similarities.get(index) ?? 0) + own * weight)
      }
    }
    const byIntent = new Map<string, number[]>()
    for (const [index, similarity] of similarities) {
      const { name } = examples[index]!
      byIntent.set(name, [...(byIntent.get(name) ?? []), similarity])
    }
    let best = { name: 'none', score: 0 }
    for (const [name, list] of byIntent) {
      const first = list.sort((one, other) => other - one)
      const score = ranks.reduce((sum, rank, place) => sum + rank * (first[place] ?? 0), 0)
      if (score > best.score) best = { name, score }
    }
    return best
  }
}

function toMatch(name: string, confidence: number): Match {
  return { intent: { name, confidence, context: 'global' } }
}

/** Words without case, accents and punctuation. */
function wordsOf(text: string): string[] {
  const plain = text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036F]/g, '')
  return plain.match(/[\p{L}\p{N}]+/gu) ?? []
}

/** The groups of three letters of each word, with its beginning and end, and how often each occurs. */
function groupsOf(text: string): Map<string, number> {
  const groups = new Map<string, number>()
  for (const word of wordsOf(text)) {
    const framed = ` ${word} `
    for (let at = 0; at + 3 <= framed.length; at += 1) {
      const group = framed.slice(at, at + 3)
      groups.set(group, (groups.get(group) ?? 0) + 1)
    }
  }
  return groups
}
