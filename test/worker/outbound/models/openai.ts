import OpenAI from 'openai'
import { streamWords } from './say-words.ts'

const options = { apiKey: 'key', baseURL: `${providerUrl}/v1`, dangerouslyAllowBrowser: true, maxRetries: 0 }
const openai = new OpenAI(options)

export const hooks = streamWords(async function* (content) {
  const messages = [{ role: 'user' as const, content }]
  for await (const { choices } of await openai.chat.completions.create({ model: 'm', stream: true, messages })) {
    const word = choices[0]?.delta.content
    if (word) yield word
  }
})
