import { Integration, RuntimeError } from '@botpress/sdk'

interface Incoming {
  from: string
  text: string
}

interface Outgoing {
  payload: { text: string }
  user: { id: string }
  client: { getUser(input: { id: string }): Promise<unknown> }
  ack(props: { tags: Record<string, string> }): Promise<void>
}

/** Takes texts in at its webhook, and marks what it sends out with the id that the channel gave it. */
const integration = new Integration({
  async register({ client, ctx, webhookUrl, logger }) {
    if (ctx.configuration['refuse'] === true) throw new RuntimeError('The configuration is refused')
    logger.forBot().info('registering at', webhookUrl)
    await client.configureIntegration({ identifier: String(ctx.configuration['account'] ?? 'nobody') })
  },
  async unregister() {},
  async handler({ client, req }) {
    const { from, text } = JSON.parse(req.body ?? '') as Incoming
    const { conversation } = await client.getOrCreateConversation({ channel: 'channel', tags: { peer: from } })
    const { user } = await client.getOrCreateUser({ tags: { peer: from } })
    await client.createMessage({
      conversationId: conversation.id,
      userId: user.id,
      type: 'text',
      payload: { text },
      tags: {},
    })
    return { status: 202, headers: { 'x-taken': from }, body: 'taken' }
  },
  actions: {
    async lookUp({ input }: { input: { what: string } }) {
      return { found: `${input.what} by ${process.env['SECRET_NAME']}` }
    },
  },
  channels: {
    channel: {
      messages: {
        async text({ payload, client, user, ack }: Outgoing) {
          await client.getUser({ id: user.id })
          await ack({ tags: { outside: payload.text.toUpperCase() } })
        },
      },
    },
  },
})

export default integration
