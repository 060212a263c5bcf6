import { Bot } from '@botpress/sdk'

interface Input {
  operation: string
  given: Record<string, unknown>
}

type Operations = Record<string, (input: Record<string, unknown>) => Promise<unknown>>

/** Does what it is asked with the published client that is part of its bundle. */
const bot = new Bot({
  actions: {
    async call({ client, input }) {
      const { operation, given } = input as unknown as Input
      try {
        // oxlint-disable-next-line no-underscore-dangle -- By this name the SDK offers the published client.
        return { answer: await (client._inner as unknown as Operations)[operation]!(given) }
      } catch (error) {
        const { code, type, message } = error as { code?: number; type?: string; message: string }
        return { refusal: { code, type, message } }
      }
    },
    async uploadLarge({ client, input }) {
      const content = Buffer.alloc(Number(input['megabytes']) * 1024 * 1024, 'abc')
      return { file: (await client.uploadFile({ key: 'large.bin', content })).file }
    },
    async read({ input }) {
      const response = await fetch(String(input['url']), { signal: AbortSignal.timeout(30_000) })
      return { status: response.status, text: await response.text() }
    },
  },
  plugins: {},
})

export default bot
