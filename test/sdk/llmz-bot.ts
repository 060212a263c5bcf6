import { CognitiveBeta } from '@botpress/cognitive'
import { Bot } from '@botpress/sdk'
import { z } from '@bpinternal/zui'
import { _CustomModelClient as ModelClient, Chat, execute, Session, Tool } from 'llmz'

type Methods = Pick<ModelClient, 'getModelDetails' | 'generateText'>

/** The client of models in the form in which llmz calls it; the version that has this form itself is not published. */
class Models extends ModelClient implements Methods {
  readonly #client: CognitiveBeta

  constructor(client: CognitiveBeta) {
    super()
    this.#client = client
  }

  async getModelDetails(name: string) {
    const models = await this.#client.listModels()
    return models.find(({ id }) => id === name)! as unknown as Awaited<ReturnType<Methods['getModelDetails']>>
  }

  generateText(...[input, options]: Parameters<CognitiveBeta['generateText']>) {
    return this.#client.generateText(input, options)
  }

  generateTextStream(...[input, options]: Parameters<CognitiveBeta['generateTextStream']>) {
    return this.#client.generateTextStream(input, options)
  }
}

const failed = new Set<string>()

/** Answers questions about orders: the model writes code, which calls an action of the bot. */
const bot = new Bot({
  actions: {
    async orderStatus({ input }) {
      return { number: Number(input['number']), status: 'shipped', readAt: Date.now() }
    },
  },
  plugins: {},
})

bot.on.message('text', async ({ client, message, conversation, ctx }) => {
  const { text } = message.payload as { text: string }
  const { BP_API_URL: apiUrl, BP_TOKEN: token } = process.env
  const session = new Session()
  session.append({ role: 'user', content: text })
  const orderStatus = new Tool({
    name: 'orderStatus',
    description: 'Finds where an order is.',
    input: z.object({ number: z.number() }),
    output: z.object({ number: z.number(), status: z.string(), readAt: z.number() }),
    handler: async (input) => (await client.callAction({ type: 'orderStatus' as never, input })).output,
  })
  const reply = async (answer: string) => {
    await client.createMessage({
      conversationId: conversation.id,
      userId: ctx.botId,
      type: 'text',
      payload: { text: answer },
      tags: {},
    })
  }
  const result = await execute({
    client: new Models(new CognitiveBeta({ apiUrl: apiUrl!, token: token!, botId: ctx.botId })),
    session,
    chat: new Chat({ response: { preset: 'text', handler: reply } }),
    tools: [orderStatus],
    model: 'local:large',
    instructions: 'You answer questions about orders.',
  })
  if (result.isError()) throw result.error
  if (text.startsWith('Fail once') && !failed.has(message.id)) {
    failed.add(message.id)
    throw new Error('the first run fails after its reply')
  }
})

export default bot
