import type { Hooks } from 'isobot/bot'

export const hooks: Hooks = {
  async afterIncomingMessage({ event, client, state }) {
    const { conversationId, payload, preview } = event
    const order =
      payload.type === 'text'
        ? (payload.value ?? drinks.find((drink) => preview.toLowerCase().includes(drink)))
        : undefined
    if (order !== undefined) {
      state.user.orders = (state.user.orders ?? 0) + 1
      const text = `One ${order}, your order number ${state.user.orders}.`
      return void (await client.createMessage({ conversationId, type: 'text', payload: { text } }))
    }
    const options = drinks.map((drink) => ({ label: drink, value: drink }))
    await client.createMessage({ conversationId, type: 'choice', payload: { text: 'What would you like?', options } })
  },
}

const drinks = ['tea', 'coffee']

declare module 'isobot/bot' {
  interface UserState {
    orders?: number
  }
}
