import { closedObject, type Infer } from '../schema.ts'

/** The texts of the widget, which a configuration may replace. */
const widgetTexts = [
  'title',
  'open',
  'close',
  'dismiss',
  'unread',
  'placeholder',
  'send',
  'log',
  'you',
  'typing',
  'connecting',
  'offline',
  'unavailable',
  'notSent',
  'tooLarge',
  'noRoom',
  'wrongType',
  'emptyFile',
  'retry',
  'discard',
  'waiting',
  'conversations',
  'newConversation',
  'noConversations',
  'back',
  'image',
  'audio',
  'video',
  'file',
  'location',
  'choose',
  'cards',
  'helpful',
  'unhelpful',
  'latest',
  'earlier',
  'joined',
  'returned',
  'unsupported',
  'attach',
  'uploading',
] as const

export type WidgetTextName = (typeof widgetTexts)[number]

const address = { type: 'string', maxLength: 2000, pattern: '^https?://[^\\s]+$' } as const
const line = { type: 'string', minLength: 1, maxLength: 200 } as const
const onOff = { type: 'boolean' } as const
const contact = {
  type: 'object',
  additionalProperties: false,
  required: ['link'],
  properties: {
    title: line,
    link: { type: 'string', maxLength: 2000, pattern: '^(https?://|mailto:|tel:)[^\\s]+$' },
  },
} as const

/** The fields of a web chat's configuration that every page may read: how the widget looks and what it offers. */
export const appearanceFields = {
  botName: { ...line, description: 'Title of the chat.' },
  botDescription: { ...line, description: 'Line below the title.' },
  botAvatar: { ...address, description: 'Address of a picture of the bot.' },
  fabImage: { ...address, description: 'Address of a picture for the bubble.' },
  color: {
    type: 'string',
    pattern: '^#[0-9a-fA-F]{6}$',
    description: 'Colour of the bubble, of buttons and of the visitor’s messages, such as `#2563eb`.',
  },
  radius: { type: 'number', minimum: 0, maximum: 4, description: 'Roundness of corners. Default: 4.' },
  fontFamily: {
    type: 'string',
    maxLength: 200,
    pattern: '^[\\p{L}\\d\\s,"\'-]+$',
    description: 'Fonts of the visitor’s device, the preferred first, such as `Georgia, serif`. None is loaded.',
  },
  themeMode: { enum: ['auto', 'light', 'dark'], description: 'Default: `auto`, as the visitor’s device.' },
  locale: {
    type: 'string',
    maxLength: 35,
    pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$',
    description: 'Language of the widget, such as `de`. Default: that of the visitor’s browser.',
  },
  texts: {
    type: 'object',
    propertyNames: { enum: widgetTexts },
    additionalProperties: { type: 'string', maxLength: 300 },
    description: 'Texts of the widget in a language that it does not have, or in other words.',
  },
  greeting: {
    type: 'string',
    maxLength: 2000,
    description: 'First message of each conversation, in Markdown. It is shown and not stored.',
  },
  composerPlaceholder: { ...line, description: 'Text in the empty field for messages.' },
  footer: { type: 'string', maxLength: 500, description: 'Text below the field for messages, in Markdown.' },
  website: { ...contact, description: 'Title and address of a link below the field for messages.' },
  email: { ...contact, description: 'The same, such as `mailto:help@example.com`.' },
  phone: { ...contact, description: 'The same, such as `tel:+431234567`.' },
  termsOfService: { ...contact, description: 'The same.' },
  privacyPolicy: { ...contact, description: 'The same.' },
  conversationHistory: { ...onOff, description: 'Whether visitors see a list of their conversations. Default: true.' },
  allowFileUpload: { ...onOff, description: 'Whether visitors get a button for files. Default: false.' },
  soundEnabled: {
    ...onOff,
    description: 'Whether a tone announces new messages, once the visitor has used the chat. Default: false.',
  },
  feedbackEnabled: { ...onOff, description: 'Whether visitors may rate messages of the bot. Default: false.' },
  proactiveMessageEnabled: { ...onOff, description: 'Whether a message beside the bubble invites visitors.' },
  proactiveBubbleMessage: { ...line, description: 'That message.' },
  proactiveBubbleTriggerType: {
    enum: ['afterDelay', 'userIdle'],
    description: 'Whether it appears after a time, or once the visitor has been idle for that time.',
  },
  proactiveBubbleDelayTime: { type: 'number', minimum: 0, maximum: 60, description: 'That time in seconds.' },
} as const

const appearance = closedObject({}, appearanceFields)

/** How the widget looks and what it offers. */
export type Appearance = Infer<typeof appearance>

/** The public fields of a web chat's configuration. */
export function appearanceOf(configuration: Record<string, unknown>): Appearance {
  return Object.fromEntries(Object.entries(configuration).filter(([name]) => name in appearanceFields))
}
