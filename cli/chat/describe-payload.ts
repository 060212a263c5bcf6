import { withoutControlCharacters } from '../output.ts'

/** A choice or a link in a bot's message. */
export interface Offer {
  label: string
  /** The value that the bot receives with the label when the choice is picked; or the address of the link. */
  value: string
  isAddress: boolean
}

type Fields = Record<string, unknown>

/** A payload of the Chat API as lines of text, and its choices and links, which the text numbers from `first` on. */
export function describePayload(payload: Fields, first = 1): { text: string; offers: Offer[] } {
  const offers: Offer[] = []
  const offer = (fields: Fields) => {
    const isAddress = fields.action === 'url'
    offers.push({ label: words(fields.label), value: String(fields.value), isAddress })
    return `  ${first + offers.length - 1}. ${words(fields.label)}${isAddress ? ` ${words(fields.value)}` : ''}`
  }
  const lines = (fields: Fields): string[] => {
    switch (fields.type) {
      case 'text':
        return [words(fields.text)]
      case 'markdown':
        return [words(fields.markdown)]
      case 'choice':
      case 'dropdown':
        return [words(fields.text), ...rows(fields.options).map(offer)]
      case 'card':
        return [
          ...[fields.title, fields.subtitle, fields.imageUrl].filter(Boolean).map(words),
          ...rows(fields.actions).map(offer),
        ]
      case 'carousel':
      case 'bloc':
        return rows(fields.items).flatMap(lines)
      case 'location':
        return [
          [fields.title, fields.address, `(${words(fields.latitude)}, ${words(fields.longitude)})`]
            .filter(Boolean)
            .map(words)
            .join(' '),
        ]
      case 'image':
      case 'audio':
      case 'video':
      case 'file':
        return [[`[${fields.type}]`, fields.title, fields[`${fields.type}Url`]].filter(Boolean).map(words).join(' ')]
      default:
        return [withoutControlCharacters(JSON.stringify(fields))]
    }
  }
  return { text: lines(payload).join('\n'), offers }
}

function rows(value: unknown): Fields[] {
  return Array.isArray(value) ? (value as Fields[]) : []
}

function words(value: unknown): string {
  return withoutControlCharacters(typeof value === 'string' ? value : JSON.stringify(value ?? ''))
}
