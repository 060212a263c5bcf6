import {
  dateToIso,
  execRegExp,
  hasOwn,
  indexIn,
  isArray,
  isNaN,
  isObject,
  lowerCase,
  NativeDate,
  normalizeText,
  record,
  sliceText,
  timeOf,
  toNumber,
  trimText,
} from '../primordials.ts'
import type { Card } from './definition.ts'

export interface Option {
  label: string
  value: string
  words?: ArrayLike<string>
}

/** The text of a message for comparisons: without case, accents, and space around it. */
function normal(text: string): string {
  const folded = normalizeText(lowerCase(trimText(text)), 'NFD')
  let plain = ''
  for (let index = 0; index < folded.length; index += 1) {
    const letter = folded[index]!
    // Combining marks of Latin, Greek and Cyrillic letters.
    if (letter < '\u0300' || letter > '\u036f') plain += letter
  }
  return plain
}

/** The text of the message, and the value of the option that the user selected, where the client names one. */
export function textOf(event: Record<string, unknown>): { text: string; selected: string | undefined } {
  const { payload, preview } = event
  const fields: Record<string, unknown> = isObject(payload) ? payload : record({})
  const text = typeof fields['text'] === 'string' ? fields['text'] : typeof preview === 'string' ? preview : ''
  const { value } = fields
  return { text, selected: typeof value === 'string' ? value : undefined }
}

/** The option that an answer selects: by value, label, number, word, or the only label that it contains. */
export function matchOption(
  event: Record<string, unknown>,
  options: ArrayLike<Option>,
  card: Card,
): Option | undefined {
  const { text, selected } = textOf(event)
  const given = normal(text)
  const first = (test: (option: Option, index: number) => boolean) => {
    for (let index = 0; index < options.length; index += 1) if (test(options[index]!, index)) return options[index]
    return undefined
  }
  const exact =
    (selected === undefined ? undefined : first((option) => option.value === selected)) ??
    first((option) => normal(option.value) === given) ??
    first((option) => normal(option.label) === given) ??
    first((_option, index) => `${index + 1}` === given) ??
    first((option) => isArray(option.words) && includesNormal(option.words, given))
  if (exact !== undefined || card['contains'] === false || given === '') return exact
  let found: Option | undefined
  for (let index = 0; index < options.length; index += 1) {
    const option = options[index]!
    if (!containsWord(given, normal(option.label)) && !containsAny(given, option.words)) continue
    if (found !== undefined) return undefined
    found = option
  }
  return found
}

/** Whether an answer is one of the words that cancel. */
export function isCancelled(event: Record<string, unknown>, card: Card): boolean {
  const { cancel } = card
  return isArray(cancel) && includesNormal(cancel as string[], normal(textOf(event).text))
}

/** Whether a text is one of these, with or without marks such as the one at the end of `Yes!`. */
function includesNormal(words: ArrayLike<string>, given: string): boolean {
  const bare = separate(given)
  for (let index = 0; index < words.length; index += 1) {
    const word = normal(words[index]!)
    if (word === given || (bare !== '' && separate(word) === bare)) return true
  }
  return false
}

function containsAny(given: string, words: ArrayLike<string> | undefined): boolean {
  if (!isArray(words)) return false
  for (let index = 0; index < words.length; index += 1) {
    if (containsWord(given, normal(words[index] as string))) return true
  }
  return false
}

/** Whether a text contains another one as whole words. */
function containsWord(text: string, word: string): boolean {
  if (word === '') return false
  return indexIn(` ${separate(text)} `, ` ${separate(word)} `) !== -1
}

/** Letters and digits stay; everything else becomes one space. */
function separate(text: string): string {
  let words = ''
  for (let index = 0; index < text.length; index += 1) {
    const letter = text[index]!
    const isSeparator = letter < '0' || (letter > '9' && letter < 'a') || (letter > 'z' && letter < '\u00aa')
    if (!isSeparator) words += letter
    else if (words !== '' && words[words.length - 1] !== ' ') words += ' '
  }
  return trimText(words)
}

const email = /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+$/
const phone = /^(?=(?:\D*\d){3})\+?[\d\s().\-/]{5,25}$/
const url = /^https?:\/\/[^\s/?#]+\S*$/i
const integer = /^[+-]?\d{1,15}$/
const decimal = /^[+-]?(?:\d{1,15}(?:[.,]\d{1,15})?|[.,]\d{1,15})$/
/** As `1,000`: a number of thousands to some, one with three decimals to others. */
const eitherThousandsOrDecimals = /^[+-]?[1-9]\d{0,2},\d{3}$/
const isoDate = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/
const yes = ['yes', 'y', 'true', 'ok', 'okay', 'sure', 'oui', 'si', 'ja', 'sim']
const no = ['no', 'n', 'false', 'nope', 'non', 'nein', 'nao']

/** The value of an answer of a kind; undefined when the answer is of another kind. */
export function readAnswer(event: Record<string, unknown>, kind: unknown): unknown {
  const { text, selected } = textOf(event)
  const trimmed = trimText(text)
  const { payload } = event
  const fields: Record<string, unknown> = isObject(payload) ? payload : record({})
  switch (kind) {
    case 'text':
      return trimmed === '' ? undefined : text
    case 'number':
      if (execRegExp(decimal, trimmed) === null || execRegExp(eitherThousandsOrDecimals, trimmed) !== null)
        return undefined
      return toNumber(withPoint(trimmed))
    case 'integer':
      return execRegExp(integer, trimmed) === null ? undefined : toNumber(trimmed)
    case 'boolean': {
      const given = normal(selected ?? text)
      return includesNormal(yes, given) ? true : includesNormal(no, given) ? false : undefined
    }
    case 'email':
      return trimmed.length <= 254 && execRegExp(email, trimmed) !== null ? trimmed : undefined
    case 'phone':
      return execRegExp(phone, trimmed) === null ? undefined : trimmed
    case 'url':
      return trimmed.length <= 2000 && execRegExp(url, trimmed) !== null ? trimmed : undefined
    case 'date':
      return execRegExp(isoDate, trimmed) !== null && isInCalendar(trimmed) ? trimmed : undefined
    case 'location':
      return hasOwn(fields, 'latitude') && hasOwn(fields, 'longitude')
        ? { latitude: fields['latitude'], longitude: fields['longitude'] }
        : undefined
    case 'file': {
      const address = fields['fileUrl'] ?? fields['imageUrl'] ?? fields['audioUrl'] ?? fields['videoUrl']
      return typeof address === 'string' ? address : undefined
    }
    default:
      return selected ?? text
  }
}

/** Whether there is the day, which `Date` counts on into the next month where there is none, and the time. */
function isInCalendar(text: string): boolean {
  const day = new NativeDate(sliceText(text, 0, 10))
  return (
    !isNaN(timeOf(day)) &&
    sliceText(dateToIso(day), 0, 10) === sliceText(text, 0, 10) &&
    !isNaN(timeOf(new NativeDate(text)))
  )
}

function withPoint(text: string): string {
  const comma = indexIn(text, ',')
  if (comma === -1) return text
  let number = ''
  for (let index = 0; index < text.length; index += 1) number += index === comma ? '.' : text[index]!
  return number
}
