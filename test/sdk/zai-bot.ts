import { Cognitive } from '@botpress/cognitive'
import { Bot } from '@botpress/sdk'
import { Zai } from '@botpress/zai'
import { z } from '@bpinternal/zui'

const animals = ['cheetah', 'snail', 'horse']

/** Operations of zai, by the text that asks for them. */
const operations: Record<string, (zai: Zai) => PromiseLike<unknown>> = {
  answer: (zai) =>
    zai.answer(['The shop opens at 9.', 'It closes at 5.'], 'When does it open?').then(({ type }) => type),
  check: (zai) => zai.check('hello', 'is a greeting'),
  extract: (zai) => zai.extract('Ann is 30', z.object({ name: z.string(), age: z.number() })),
  filter: (zai) => zai.filter(animals, 'is fast'),
  group: (zai) => zai.group(animals, { instructions: 'by speed' }),
  label: (zai) => zai.label('hello', { polite: 'is it polite?' }),
  patch: (zai) =>
    zai.patch([{ path: 'a.ts', name: 'a.ts', content: 'one\ntwo' }], 'write 2').then(([file]) => file?.content),
  rate: (zai) => zai.rate(animals, 'how fast?'),
  rewrite: (zai) => zai.rewrite('hello', 'in capitals'),
  sort: (zai) => zai.sort(animals, 'from slow to fast'),
  summarize: (zai) => zai.summarize('A long story. '.repeat(200), { length: 50 }),
  text: (zai) => zai.text('a greeting', { length: 50 }),
}

/** Answers the name of an operation with its result. */
const bot = new Bot({ actions: {}, plugins: {} })

bot.on.message('text', async ({ client, message, conversation, ctx }) => {
  const { text } = message.payload as { text: string }
  const cognitive = new Cognitive({ client, __experimental_beta: true })
  const result = await operations[text]?.(new Zai({ client: cognitive }))
  await client.createMessage({
    conversationId: conversation.id,
    userId: ctx.botId,
    type: 'text',
    payload: { text: JSON.stringify(result) },
    tags: {},
  })
})

export default bot
