import { closedObject, type Infer } from '../schema.ts'
import { expirationOptions, mediaMetadata, mediaModel } from './media.ts'

export const pictureFormats = ['png', 'jpeg', 'webp'] as const
export type PictureFormat = (typeof pictureFormats)[number]

export const generateImageInput = closedObject(
  { prompt: { type: 'string', minLength: 1, maxLength: 32_000, description: 'The picture, in words.' } },
  {
    model: mediaModel,
    size: {
      type: 'string',
      pattern: '^([1-9]\\d{1,3}x[1-9]\\d{1,3}|[1-9]\\d?:[1-9]\\d?)$',
      description: 'In pixels, as `1024x1024`, or a ratio, as `16:9`: the nearest that the model makes.',
    },
    quality: { enum: ['low', 'medium', 'high', 'auto'], description: 'Of models that have several.' },
    format: { enum: pictureFormats, description: 'Of models that have several; `png` unless given.' },
    options: expirationOptions,
  },
)

export type GenerateImageInput = Infer<typeof generateImageInput>

export const generateImageOutput = closedObject({
  output: closedObject({
    imageUrl: { type: 'string', description: 'Everybody who has it sees the picture, until the file expires.' },
  }),
  metadata: mediaMetadata({
    size: {
      type: 'string',
      description: 'That of the answer, or else that which was asked for; `auto` where neither is known.',
    },
    format: { enum: pictureFormats },
    quality: { type: 'string', description: '`auto` where it is not known.' },
  }),
})

export type GenerateImageOutput = Infer<typeof generateImageOutput>
