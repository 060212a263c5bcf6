import { Autonomous, Conversation, z } from '@botpress/runtime'
import { agentRegistry, defineConfig, handlers, initialize, patchHandlers, register } from '@botpress/runtime/runtime'
import { Bot } from '@botpress/sdk'

/** An agent as its author writes it, with the entry module that the author's command line generates. */
const orderStatus = new Autonomous.Tool({
  name: 'orderStatus',
  description: 'Finds where an order is.',
  input: z.object({ number: z.number() }),
  output: z.object({ status: z.string() }),
  handler: async ({ number }) => ({ status: `Order ${number} is shipped` }),
})

const orders = new Conversation({
  channel: '*',
  state: z.object({ turns: z.number().default(0) }),
  async handler({ execute, state }) {
    state.turns += 1
    await execute({
      instructions: `You answer questions about orders. This is turn ${state.turns}.`,
      tools: [orderStatus],
    })
  },
})

const models = { autonomous: 'openai:gpt-4.1-mini-2025-04-14', zai: 'openai:gpt-4.1-2025-04-14' }
const bot = new Bot({ actions: {}, plugins: {} })
initialize({ config: defineConfig({ name: 'orders', defaultModels: models }) })
register(orders)
agentRegistry.initialize({ integrations: [], interfaces: [], interfacesMapping: {} })
patchHandlers(bot)
for (const name of ['conversation', 'event', 'trigger', 'workflow', 'actions']) handlers[name].setup(bot)

export default bot
export const handler = bot.handler
