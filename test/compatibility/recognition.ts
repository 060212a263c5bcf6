import type { V12Bot } from '../../cli/import/v12/bots.ts'
import { intentsOf } from '../../cli/import/v12/intents.ts'
import { createMatcher } from '../../templates/v12/matcher.ts'

/** How well examples of intents are recognised by the others. */
export interface Recognition {
  examples: number
  right: number
  /** Recognised as another intent; the rest is recognised as none. */
  wrong: number
}

/** Upper bound of the examples of a bot, in order, because each is compared with all others. */
const maxExamples = 1500

/**
 * Leaves each example of a bot's intents and questions out, and looks whether the matcher recognises it by the others. Intents
 * with a single example are left out: nothing is left of them.
 */
export function recognise(bot: V12Bot): Recognition {
  const intents = intentsOf(bot)
    .map(({ name, examples }) => ({ name, examples: [...new Set(examples)] }))
    .filter(({ examples }) => examples.length > 1)
  const result: Recognition = { examples: 0, right: 0, wrong: 0 }
  if (intents.length < 2) return result
  for (const intent of intents) {
    for (const example of intent.examples) {
      if (result.examples >= maxExamples) return result
      const others = intents.map((each) =>
        each === intent ? { ...each, examples: each.examples.filter((text) => text !== example) } : each,
      )
      const { name } = createMatcher(others)(example).intent
      result.examples += 1
      if (name === intent.name) result.right += 1
      else if (name !== 'none') result.wrong += 1
    }
  }
  return result
}
