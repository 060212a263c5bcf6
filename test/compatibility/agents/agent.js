import {
  Autonomous,
  Conversation,
  DataSource,
  Knowledge,
  Workflow,
  bot as agent,
  isWorkflowCallback,
  z,
} from '@botpress/runtime'
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

/** Asks its conversation for something, waits for longer than a run may, and is told the end of another workflow. */
const delivery = new Workflow({
  name: 'delivery',
  input: z.object({}),
  output: z.object({ place: z.string() }),
  requests: { place: z.object({ name: z.string() }) },
  async handler({ step }) {
    const { name } = await step.request('place', 'Where is it delivered to?')
    await step.sleep('the way there', 10_000)
    const { answer } = await step.executeWorkflow('ring', ring, {})
    return { place: name + ': ' + answer }
  },
})

const ring = new Workflow({
  name: 'ring',
  input: z.object({}),
  output: z.object({ answer: z.string() }),
  handler: async () => ({ answer: 'accepted' }),
})

/** Executes a workflow for each item, three at the same time. */
const squares = new Workflow({
  name: 'squares',
  input: z.object({}),
  output: z.object({ place: z.string() }),
  async handler({ step }) {
    const square = async (side) => (await step.executeWorkflow('square', multiply, { side })).area
    const areas = await step.map('areas', [1, 2, 3], square, { concurrency: 3 })
    return { place: areas.join(', ') }
  },
})

const multiply = new Workflow({
  name: 'multiply',
  input: z.object({ side: z.number() }),
  output: z.object({ area: z.number() }),
  handler: async ({ input }) => ({ area: input.side * input.side }),
})

const orders = new Conversation({
  channel: '*',
  state: z.object({ turns: z.number().default(0) }),
  async handler({ type, message, event, request, conversation, execute, state }) {
    if (type === 'workflow_request') return request.workflow.provide('place', { name: 'Main Street' }, request.step)
    if (type === 'event') {
      const { status, output, error } = event.payload
      const text = isWorkflowCallback(event) ? `${status}: ${output?.place ?? error}` : `another event: ${event.type}`
      return conversation.send({ type: 'text', payload: { text } })
    }
    // A picture has none.
    const { text = '' } = message.payload
    if (text === 'deliver') return void (await delivery.start({}))
    if (text === 'measure') return void (await squares.start({}))
    if (text.startsWith('tag ')) {
      const before = agent.tags.tier
      agent.tags.tier = text.slice('tag '.length)
      return conversation.send({ type: 'text', payload: { text: `before: ${before}` } })
    }
    state.turns += 1
    await execute({
      instructions: `You answer questions about orders. This is turn ${state.turns}.`,
      tools: [orderStatus],
    })
  },
})

/** Its host stands for that of the site, which the program enters. */
const shop = new Knowledge({
  name: 'shop',
  description: 'The pages of the shop.',
  sources: [DataSource.Website.fromUrls(['http://site.test/returns', 'http://site.test/shipping'])],
})

const models = { autonomous: 'openai:gpt-4.1-mini-2025-04-14', zai: 'openai:gpt-4.1-2025-04-14' }
const bot = new Bot({ actions: {}, plugins: {} })
initialize({ config: defineConfig({ name: 'orders', defaultModels: models }) })
register(orders, shop, delivery, ring, squares, multiply)
agentRegistry.initialize({ integrations: [], interfaces: [], interfacesMapping: {} })
patchHandlers(bot)
for (const name of ['conversation', 'event', 'trigger', 'workflow', 'actions']) handlers[name].setup(bot)

export default bot
export const handler = bot.handler
