import type { Infer } from '../schema.ts'

/** The content of a chat message: one of twelve variants, discriminated by `type`. Unknown inner fields are kept. */

const nonEmptyText = { type: 'string', minLength: 1 } as const

const labelled = {
  type: 'object',
  required: ['label', 'value'],
  properties: { label: nonEmptyText, value: nonEmptyText },
} as const

const text = {
  type: 'object',
  required: ['type', 'text'],
  properties: {
    type: { const: 'text' },
    text: nonEmptyText,
    value: {
      type: 'string',
      description: 'The value of the option that the user selected; `text` is its label.',
    },
  },
} as const

const markdown = {
  type: 'object',
  required: ['type', 'markdown'],
  properties: { type: { const: 'markdown' }, markdown: nonEmptyText },
} as const

const image = {
  type: 'object',
  required: ['type', 'imageUrl'],
  properties: { type: { const: 'image' }, imageUrl: nonEmptyText },
} as const

const audio = {
  type: 'object',
  required: ['type', 'audioUrl'],
  properties: { type: { const: 'audio' }, audioUrl: nonEmptyText },
} as const

const video = {
  type: 'object',
  required: ['type', 'videoUrl'],
  properties: { type: { const: 'video' }, videoUrl: nonEmptyText },
} as const

const file = {
  type: 'object',
  required: ['type', 'fileUrl'],
  properties: { type: { const: 'file' }, fileUrl: nonEmptyText, title: nonEmptyText },
} as const

const location = {
  type: 'object',
  required: ['type', 'latitude', 'longitude'],
  properties: {
    type: { const: 'location' },
    latitude: { type: 'number' },
    longitude: { type: 'number' },
    address: { type: 'string' },
    title: { type: 'string' },
  },
} as const

const card = {
  type: 'object',
  required: ['type', 'title', 'actions'],
  properties: {
    type: { const: 'card' },
    title: nonEmptyText,
    subtitle: nonEmptyText,
    imageUrl: nonEmptyText,
    actions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['action', 'label', 'value'],
        properties: { action: { enum: ['postback', 'url', 'say'] }, label: nonEmptyText, value: nonEmptyText },
      },
    },
  },
} as const

const carousel = {
  type: 'object',
  required: ['type', 'items'],
  properties: { type: { const: 'carousel' }, items: { type: 'array', items: card } },
} as const

const choice = {
  type: 'object',
  required: ['type', 'text', 'options'],
  properties: { type: { const: 'choice' }, text: nonEmptyText, options: { type: 'array', items: labelled } },
} as const

const dropdown = {
  type: 'object',
  required: ['type', 'text', 'options'],
  properties: { type: { const: 'dropdown' }, text: nonEmptyText, options: { type: 'array', items: labelled } },
} as const

const bloc = {
  type: 'object',
  required: ['type', 'items'],
  properties: {
    type: { const: 'bloc' },
    items: {
      type: 'array',
      items: {
        type: 'object',
        discriminator: { propertyName: 'type' },
        required: ['type'],
        oneOf: [text, markdown, image, audio, video, file, location],
      },
    },
  },
} as const

/** A chat message's payload as clients send and receive it. */
export const chatPayload = {
  type: 'object',
  discriminator: { propertyName: 'type' },
  required: ['type'],
  oneOf: [text, markdown, image, audio, video, file, location, card, carousel, choice, dropdown, bloc],
} as const

export type ChatPayload = Infer<typeof chatPayload>

/**
 * The content of a message as it is stored and as bots see it: with a separate type, and the items of a bloc as
 * messages.
 */
export interface MessageContent {
  type: string
  payload: Record<string, unknown>
}

/** Converts a payload of the chat API to the bot's form. */
export function toContent(payload: ChatPayload): MessageContent {
  const { type, ...rest } = payload
  if (payload.type !== 'bloc') return { type, payload: rest }
  return { type, payload: { ...rest, items: payload.items.map((item) => toContent(item)) } }
}

/**
 * Converts the bot's form to a payload of the chat API. Items of a carousel get the type `card`, which bots may omit
 * and clients require.
 */
export function toChatPayload({ type, payload }: MessageContent): Record<string, unknown> {
  const items = payload['items']
  if (type === 'bloc' && Array.isArray(items)) return { type, ...payload, items: items.map(flattenItem) }
  if (type === 'carousel' && Array.isArray(items)) return { type, ...payload, items: items.map(asCard) }
  return { type, ...payload }
}

function flattenItem(item: unknown): unknown {
  if (!isRecord(item) || !isRecord(item['payload']) || typeof item['type'] !== 'string') return item
  return toChatPayload({ type: item['type'], payload: item['payload'] })
}

function asCard(item: unknown): unknown {
  return isRecord(item) ? { ...item, type: 'card' } : item
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The plain text of a message: its text, or a short form of other content. */
export function previewOf({ type, payload }: MessageContent): string {
  for (const field of ['text', 'markdown', 'title']) {
    const value = payload[field]
    if (typeof value === 'string') return value
  }
  const url = payload[`${type}Url`]
  if (typeof url === 'string') return `${type}: ${url}`
  if (type === 'location') return `location: ${String(payload['latitude'])}, ${String(payload['longitude'])}`
  const items = payload['items']
  if (Array.isArray(items)) return items.map(previewOfItem).join('\n')
  return type
}

function previewOfItem(item: unknown): string {
  if (!isRecord(item)) return ''
  const type = typeof item['type'] === 'string' ? item['type'] : 'card'
  return previewOf({ type, payload: isRecord(item['payload']) ? item['payload'] : item })
}
