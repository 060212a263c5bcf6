import OpenAI from 'openai'

const openai = new OpenAI({ apiKey: 'any', baseURL: `${providerUrl}/v1`, dangerouslyAllowBrowser: true })

interface Argument {
  event: { conversationId: string; preview: string }
  client: { createMessage(input: object): Promise<unknown> }
}

/** A bot whose model calls a tool, is told the result, and answers, twice. */
export const hooks = {
  async afterIncomingMessage({ event, client }: Argument): Promise<void> {
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }]
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: event.preview }]
    const first = await openai.chat.completions.create({ model: 'auto', messages, tools, tool_choice: 'required' })
    const [call] = first.choices[0]!.message.tool_calls!
    messages.push(first.choices[0]!.message, { role: 'tool', tool_call_id: call!.id, content: 'rain' })
    const second = await openai.chat.completions.create({ model: 'auto', messages, tools })
    const text = `${first.id}, ${second.id}: ${second.choices[0]!.message.content}`
    const message = { conversationId: event.conversationId, type: 'text', payload: { text } }
    await client.createMessage(message)
    await new Promise((resolve) => setTimeout(resolve, 2000))
    await client.createMessage(message)
  },
}
