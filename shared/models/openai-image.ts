import { closedObject, type Infer } from '../schema.ts'
import { pictureFormats } from './picture.ts'

const text = { type: 'string' } as const
const tokens = { type: 'integer' } as const

/** A request of OpenAI's Images API, with the fields that models of several providers have. */
export const openAiImageInput = closedObject(
  { prompt: { type: 'string', minLength: 1, maxLength: 32_000 } },
  {
    model: {
      type: 'string',
      minLength: 1,
      maxLength: 300,
      nullable: true,
      description: '`provider:model` or `auto`, also unless given; a name without a provider is a model of OpenAI.',
    },
    n: { type: 'integer', minimum: 1, maximum: 1, nullable: true },
    size: {
      type: 'string',
      pattern: '^(auto|[1-9]\\d{1,3}x[1-9]\\d{1,3})$',
      nullable: true,
      description: 'For instance `1024x1024`.',
    },
    quality: { enum: ['low', 'medium', 'high', 'auto', 'standard', 'hd', null] },
    output_format: { enum: [...pictureFormats, null], description: 'Of models that have several.' },
    response_format: {
      enum: ['b64_json', 'url', null],
      description:
        '`url` is the address of a public file of the bot, for 30 days. `b64_json`, also unless given, is the picture itself.',
    },
    stream: { enum: [false, null], description: 'Pictures are not streamed.' },
  },
)

export type OpenAiImageInput = Infer<typeof openAiImageInput>

/** Of the picture, one of both fields. */
export const openAiImage = closedObject({
  created: { type: 'integer' },
  data: { type: 'array', items: closedObject({}, { b64_json: text, url: text }) },
  size: text,
  quality: text,
  output_format: { enum: pictureFormats },
  usage: closedObject({
    input_tokens: tokens,
    output_tokens: tokens,
    total_tokens: tokens,
    input_tokens_details: closedObject({ text_tokens: tokens, image_tokens: tokens }),
  }),
})
