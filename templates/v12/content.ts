/** Messages made from content elements of v12, by the importer and, for what actions send, by the bot. */

type Fields = Readonly<Record<string, unknown>>

/** A message of this platform. */
export type Message = { type: string; [field: string]: unknown }

/** @returns undefined when the element has nothing to send */
export function toMessage(type: string, given: Fields): Message | undefined {
  const text = words(given['text'])
  switch (type.replace(/^builtin_/, '').replaceAll('_', '-')) {
    case 'text':
      return text === '' ? undefined : { type: 'text', text }
    case 'single-choice':
    case 'quick-reply':
      return withOptions('choice', text, given['choices'] ?? given['quick_replies'], given['isDropdown'] === true)
    case 'dropdown':
      return withOptions('dropdown', text || words(given['message']), given['options'], true)
    case 'image':
      return media('image', 'imageUrl', given['image'], given)
    case 'audio':
      return media('audio', 'audioUrl', given['audio'], given)
    case 'video':
      return media('video', 'videoUrl', given['video'], given)
    case 'file':
      return media('file', 'fileUrl', given['file'], given)
    case 'location': {
      const latitude = Number(given['latitude'])
      const longitude = Number(given['longitude'])
      if (!Number.isFinite(latitude) || !Number.isFinite(longitude)) return undefined
      return {
        type: 'location',
        latitude,
        longitude,
        ...optional('address', given['address']),
        ...optional('title', given['title']),
      }
    }
    case 'card':
      return toCard(given)
    case 'carousel': {
      const items = records(given['items']).flatMap((item) => toCard(item) ?? [])
      return items.length === 0 ? undefined : { type: 'carousel', items }
    }
    case 'action-button':
      return toCard({ title: words(given['title']) || '…', actions: [given] })
    default: {
      const message = text || words(given['message']) || words(given['title'])
      return message === '' ? undefined : { type: 'text', text: message }
    }
  }
}

function withOptions(type: string, text: string, given: unknown, isDropdown: boolean): Message | undefined {
  const options = records(given).flatMap((each) => {
    const label = words(each['title']) || words(each['label']) || words(each['value'])
    return label === '' ? [] : [{ label, value: words(each['value']) || words(each['payload']) || label }]
  })
  if (options.length === 0) return text === '' ? undefined : { type: 'text', text }
  return { type: isDropdown ? 'dropdown' : type, text: text || '…', options }
}

function media(type: string, field: string, given: unknown, { title }: Fields): Message | undefined {
  const address = words(given)
  return address === '' ? undefined : { type, [field]: withAddress(address), ...optional('title', title) }
}

/** Files of v12’s own server are at the address that the bot’s variable MEDIA_URL names. */
function withAddress(address: string): string {
  const [, name] = /^(?:https?:\/\/[^/]+)?\/api\/v1\/bots\/[^/]+\/media\/(.+)$/.exec(address) ?? []
  return name === undefined ? address : `{{ env.MEDIA_URL }}/${name}`
}

function toCard(given: Fields): Message | undefined {
  const title = words(given['title'])
  if (title === '') return undefined
  const actions = records(given['actions']).flatMap((each) => {
    const label = words(each['title'])
    const kind = words(each['action'])
    if (label === '') return []
    if (kind === 'Open URL') return [{ action: 'url', label, value: words(each['url']) || '#' }]
    if (kind === 'Postback') return [{ action: 'postback', label, value: words(each['payload']) || label }]
    return [{ action: 'say', label, value: words(each['text']) || label }]
  })
  const image = words(given['image'])
  return {
    type: 'card',
    title,
    ...optional('subtitle', given['subtitle']),
    ...(image !== '' && { imageUrl: withAddress(image) }),
    actions,
  }
}

function optional(field: string, value: unknown): Fields {
  const text = words(value)
  return text === '' ? {} : { [field]: text }
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

function records(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((item): item is Fields => typeof item === 'object' && item !== null) : []
}
