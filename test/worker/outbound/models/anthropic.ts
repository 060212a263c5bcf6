import Anthropic from '@anthropic-ai/sdk'
import { streamWords } from './say-words.ts'

const options = { apiKey: 'key', baseURL: providerUrl, dangerouslyAllowBrowser: true, maxRetries: 0 }
const anthropic = new Anthropic(options)

export const hooks = streamWords(async function* (content) {
  const messages = [{ role: 'user' as const, content }]
  const asked = { model: 'm', max_tokens: 10, stream: true as const, messages }
  for await (const part of await anthropic.messages.create(asked)) {
    if (part.type === 'content_block_delta' && part.delta.type === 'text_delta') yield part.delta.text
  }
})
