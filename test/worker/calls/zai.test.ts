import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleSdk } from '../../sdk/bundle.ts'
import { createChatUser } from '../../support/chat-client.ts'
import { complete, startEndpoint } from '../../support/models.ts'
import { replies } from '../../support/outcomes.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

/** The answers of a model, by a text at the start of its instructions, in the formats that they demand. */
const answers: [instructions: string, answer: string][] = [
  ['research assistant', '■answer\nAt 9. ■001\n'],
  ['Check if', 'Final Answer: ■TRUE■\n■END■'],
  ['Extract the following', '■json_start■{"name": "Ann", "age": 30}■json_end■'],
  ['filter out', '■0:true■1:false■2:true■END■'],
  ['grouping elements', '■0:fast■\n■1:slow■\n■2:fast■\n■END■'],
  ['You need to tag', '■polite:【It greets】:ABSOLUTELY_YES■\n■END■'],
  ['code patching', '■PATCH_START■\n<FILE path="a.ts">\n◼︎=2|2\n</FILE>'],
  [
    'creating evaluation',
    JSON.stringify({ speed: { very_bad: 'a', bad: 'b', average: 'c', good: 'd', very_good: 'e' } }),
  ],
  ['rating items', '■0:speed=very_good■\n■1:speed=very_bad■\n■2:speed=good■\n■END■'],
  ['Rewrite the text', '■START■HELLO■END■'],
  ['creating sorting', '■speed■\nslow;medium;fast\n■END■'],
  ['ranking items', '■0:speed=fast■\n■1:speed=slow■\n■2:speed=medium■\n■END■'],
  ['summarizing', '■START■A story.■END■'],
  ['Generate a text', 'Hello!'],
]

const expected: Record<string, unknown> = {
  answer: 'answer',
  check: true,
  extract: { name: 'Ann', age: 30 },
  filter: ['cheetah', 'horse'],
  group: { fast: ['cheetah', 'horse'], slow: ['snail'] },
  label: { polite: true },
  patch: 'one\n2',
  rate: [5, 1, 4],
  rewrite: 'HELLO',
  sort: ['snail', 'horse', 'cheetah'],
  summarize: 'A story.',
  text: 'Hello!',
}

let platform: Platform
const parts = new AsyncDisposableStack()
beforeAll(async () => {
  const endpoint = parts.use(await startEndpoint())
  endpoint.script = (response, { body }) => {
    const instructions = (body.messages[0] as { content: string }).content.slice(0, 200)
    const [, content] = answers.find(([part]) => instructions.includes(part)) ?? []
    complete(response, { content: content ?? 'no script' })
  }
  platform = parts.use(await openPlatform({ environment: endpoint.environment }))
})
afterAll(() => parts.disposeAsync())

test('each operation of zai, bundled unmodified, gets its answer in the isolate', async () => {
  const bot = await platform.createBot(await bundleSdk('zai-bot.ts'))
  const chatUser = await createChatUser(bot.chatUrl)
  const conversationId = await chatUser.createConversation()
  for (const name of Object.keys(expected)) await chatUser.send(conversationId, name)
  await expect
    .poll(() => replies(platform, conversationId), { timeout: 25_000 })
    .toEqual(Object.values(expected).map((value) => JSON.stringify(value)))
})
