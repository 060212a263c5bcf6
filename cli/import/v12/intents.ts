import type { V12Bot } from './bots.ts'
import { toFields, toText, toTexts } from './json.ts'
import { questionsOf } from './qna.ts'

const maxIntents = 500
const maxExamples = 5000
/** Characters of an example: the pattern of its slots tries each of them. */
const maxExample = 1000

/** Examples of intents and questions, in all languages. */
export function intentsOf(bot: V12Bot): { name: string; examples: string[] }[] {
  const { report } = bot
  const own = bot.intents.flatMap(({ file, fields }) => {
    const name = toText(fields['name']) || file.replace(/^intents\/|\.json$/g, '')
    if (name.startsWith('__qna__')) return []
    if (Array.isArray(fields['slots']) && fields['slots'].length > 0) {
      report.lost(file, undefined, 'the slots of the intent', 'Ask for them with `capture` cards')
    }
    report.differs(file, undefined, `the intent ${name}`, 'Messages are compared with its examples: v12/matcher.ts')
    return [{ name, examples: textsOf(fields['utterances']).map(withoutSlots) }]
  })
  const questions = questionsOf({ bot }).map(({ intent, data }) => ({
    name: intent,
    examples: textsOf(data['questions']),
  }))
  let left = maxExamples
  const intents = [...own, ...questions].slice(0, maxIntents * 2).map(({ name, examples }) => {
    const kept = examples.slice(0, left)
    left -= kept.length
    return { name, examples: kept }
  })
  if (left === 0) report.differs('intents/', undefined, `more than ${maxExamples} examples`, 'The others were left out')
  return intents
}

/** An example such as `to [Rome](city)` without the names of its slots. */
function withoutSlots(text: string): string {
  return text.slice(0, maxExample).replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}

/** All texts of a translated list. */
function textsOf(translated: unknown): string[] {
  return Object.values(toFields(translated)).flatMap((texts) => toTexts(texts))
}
