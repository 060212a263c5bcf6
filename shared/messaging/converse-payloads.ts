import type { ChatPayload } from '../models/payload.ts'
import { chatPayload, isRecord, toChatPayload, type MessageContent } from '../models/payload.ts'
import { ApiError } from '../errors.ts'
import { compile, describeErrors } from '../schema.ts'

/** Payloads of messages in the forms that clients of v12 send and read. */

type Fields = Record<string, unknown>

const isChatPayload = compile(chatPayload, 'body')

/**
 * Reads a payload of a client: a text, the answer to a choice (`quick_reply`, `postback`), or one of the types of the
 * chat API.
 *
 * @throws ApiError `InvalidPayload`
 */
export function readPayload({ type = 'text', ...fields }: Fields): ChatPayload {
  const isAnswer = type === 'quick_reply' || type === 'postback'
  const value = fields['payload']
  const payload: unknown = isAnswer
    ? { type: 'text', text: fields['text'] ?? value, ...(typeof value === 'string' && { value }) }
    : { type, ...fields }
  if (isChatPayload(payload)) return payload
  throw new ApiError('InvalidPayload', describeErrors(isChatPayload))
}

/** A message of the bot as responses. */
export function toResponses(content: MessageContent): Fields[] {
  const { type, ...fields } = toChatPayload(content)
  return type === 'bloc' ? listOf(fields['items']).map(toResponse) : [toResponse({ type, ...fields })]
}

function toResponse({ type, ...fields }: Fields): Fields {
  const { imageUrl, audioUrl, videoUrl, fileUrl, markdown, options, text, ...others } = fields
  switch (type) {
    case 'markdown':
      return { type: 'text', text: markdown, markdown: true, ...others }
    case 'image':
      return { type, image: imageUrl, ...others }
    case 'audio':
      return { type, audio: audioUrl, ...others }
    case 'video':
      return { type, video: videoUrl, ...others }
    case 'file':
      return { type, file: fileUrl, ...others }
    case 'choice':
      return {
        type: 'single-choice',
        text,
        choices: listOf(options).map(({ label, value }) => ({ title: label, value })),
        ...others,
      }
    case 'dropdown':
      return { type, message: text, options, ...others }
    case 'card':
      return toCard(fields)
    case 'carousel':
      return { type, ...fields, items: listOf(fields['items']).map(toCard) }
    default:
      return { type, ...fields }
  }
}

function toCard({ imageUrl, actions, ...others }: Fields): Fields {
  return {
    ...others,
    type: 'card',
    ...(imageUrl !== undefined && { image: imageUrl }),
    actions: listOf(actions).map(({ action, label, value }) => {
      if (action === 'url') return { action: 'Open URL', title: label, url: value }
      if (action === 'say') return { action: 'Say something', title: label, text: value }
      return { action: 'Postback', title: label, payload: value }
    }),
  }
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
