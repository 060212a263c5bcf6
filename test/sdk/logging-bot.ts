import { Bot } from '@botpress/sdk'

/** Logs an error as authors do, and values of built-in classes. */
const bot = new Bot({ actions: {}, plugins: {} })

class RefusedError extends Error {
  readonly code = 402
}

function order(): never {
  throw new RefusedError('The card is refused', { cause: new TypeError('No such card') })
}

bot.on.message('text', async ({ logger }) => {
  try {
    order()
  } catch (error) {
    logger.error('The order failed:', error)
  }
  logger.info('%s has', 'Ann', new Map([['books', new Set([1n])]]), new URL('https://example.com/a').searchParams)
})

export default bot
