import { toMessage, type Message } from '../../../templates/v12/content.ts'
import type { Conversion, NewCard } from './conversion.ts'
import { toTemplates, type Place } from './expressions.ts'
import { parseJson, toFields, toList, toText, type Fields } from './json.ts'

/** An element of content in one language: fields without the language in their name. */
export function localized(fields: Fields, language: string): Fields {
  const plain = Object.entries(fields).filter(([name]) => !name.includes('$'))
  const own = Object.entries(fields).flatMap(([name, value]) =>
    name.endsWith(`$${language}`) ? [[name.slice(0, -language.length - 1), value] as const] : [],
  )
  return Object.fromEntries([...plain, ...own])
}

/** The languages of an element; the bot’s own first. */
function languagesOf(fields: Fields, own: string): string[] {
  const named = Object.keys(fields).flatMap((name) => (name.includes('$') ? [name.slice(name.indexOf('$') + 1)] : []))
  return [...new Set([own, ...named])].filter((language) => language !== '' && language.length <= 20)
}

/** The fields of a card that send an element: `message`, `variants` and `translations`. */
export interface Messages {
  message?: Message | string
  variants?: (Message | string)[]
  translations?: Record<string, Message | string>
}

/**
 * Reads an element as messages.
 *
 * @returns undefined when there is none, which is reported
 */
export function messagesOf(
  { bot }: Conversion,
  id: string,
  place: Place,
): { messages: Messages; fields: Fields; type: string } | undefined {
  const element = bot.content.get(id)
  const lost = (what: string) =>
    bot.report.lost(place.file, place.node, `the element ${id}: ${what}`, 'Add a `say` card')
  if (!element) {
    lost('there is no such element')
    return undefined
  }
  const { type, fields: stored } = element
  const messageIn = (language: string) =>
    toMessageIn(type, toFields(toTemplates(localized(stored, language), place, bot.report)))
  const languages = languagesOf(stored, bot.language)
  const [first, ...others] = languages.map((language) => [language, messageIn(language)] as const)
  const main = first?.[1] ?? others.find(([, message]) => message !== undefined)?.[1]
  const fields = localized(stored, bot.language)
  if (main === undefined) {
    lost('it has nothing to send')
    return undefined
  }
  const translations = others.flatMap(([language, message]) =>
    message === undefined ? [] : [[language, message] as const],
  )
  const variations = toList(fields['variations']).map((each) => toTemplates(toText(each), place, bot.report) as string)
  const variants = variations.filter((each) => each !== '').slice(0, 49)
  return {
    type,
    fields,
    messages: {
      ...(variants.length > 0 ? { variants: [main, ...variants] } : { message: main }),
      ...(translations.length > 0 && { translations: Object.fromEntries(translations) }),
    },
  }
}

/** A text is written as one; templates of numbers stay texts that the platform converts. */
function toMessageIn(type: string, fields: Fields): Message | string | undefined {
  const message = toMessage(type, fields)
  const text = message?.['text']
  return message?.type === 'text' && typeof text === 'string' && text.length <= 4096 ? text : message
}

/** The card that sends an element, or a message of a type with the fields of the instruction. */
export function contentCard(conversion: Conversion, id: string, place: Place, parameters?: string): NewCard[] {
  const { report } = conversion.bot
  if (parameters === undefined || conversion.bot.content.has(id)) {
    const found = messagesOf(conversion, id, place)
    return found ? [{ type: 'say', ...found.messages }] : []
  }
  try {
    const message = toMessageIn(id, toFields(toTemplates(parseJson(parameters), place, report)))
    if (message !== undefined) return [{ type: 'say', message }]
  } catch {
    // It is reported below.
  }
  report.lost(place.file, place.node, `the instruction say #${id}`, 'Add a `say` card')
  return []
}
