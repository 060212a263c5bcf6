import type { Card } from '../../../shared/flows/flow.ts'

const maxCharacters = 80

/** The fields of which one tells most about a card, the first that it has. */
const telling = [
  'message',
  'variants',
  'if',
  'code',
  'action',
  'url',
  'flow',
  'to',
  'event',
  'text',
  'seconds',
  'cases',
  'instructions',
  'question',
  'values',
  'remove',
]

/** A card in a few words. */
export function textOf(card: Card): string {
  const field = telling.find((name) => card[name] !== undefined && card[name] !== null)
  const text = field === undefined ? '' : wordsOf(card[field])
  const variable = typeof card['variable'] === 'string' ? ` → ${card['variable']}` : ''
  return shorten(text + variable)
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) {
    return value
      .map((item) => (isRecord(item) && typeof item['port'] === 'string' ? item['port'] : wordsOf(item)))
      .join(', ')
  }
  if (!isRecord(value)) return String(value)
  const { $, text, type, title } = value
  if (typeof $ === 'string') return $
  if (typeof text === 'string') return text
  if (typeof title === 'string') return title
  return typeof type === 'string' ? type : Object.keys(value).join(', ')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters - 1).toWellFormed()}…` : line
}
