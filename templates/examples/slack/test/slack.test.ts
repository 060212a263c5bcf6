import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openIntegration } from 'isobot/test'

const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5'
const folder = join(import.meta.dirname, '..', 'integrations', 'slack')
const slack = await openIntegration(folder, { configuration: { botToken: 'xoxb-1', signingSecret } })
after(() => slack.close())

const event = { type: 'message', user: 'U1', channel: 'D1', ts: '1355517523.000005', text: 'A tea, please' }

test('Slack gets its challenge back', async () => {
  const { result } = await receive({ type: 'url_verification', challenge: '3eZbrw1aB' })
  assert.equal(result.body, '3eZbrw1aB')
})

test('a message becomes one of its user in its channel, and a mention is the same message', async () => {
  const mention = { ...event, type: 'app_mention', text: '<@U0BOT> A tea, please' }
  for (const received of [event, mention]) {
    const { calls } = await receive({ type: 'event_callback', event: received })
    assert.deepEqual(
      calls.map(({ input }) => input),
      [
        {
          user: { tags: { id: 'U1' } },
          conversation: { channel: 'channel', tags: { id: 'D1' } },
          message: { type: 'text', payload: { text: 'A tea, please' }, tags: { id: 'D1:1355517523.000005' } },
        },
      ],
    )
  }
})

test('messages of bots and changes of messages are none of a user', async () => {
  for (const other of [
    { ...event, bot_id: 'B1' },
    { ...event, subtype: 'message_changed' },
    { ...event, type: 'reaction_added' },
  ]) {
    const { result, calls } = await receive({ type: 'event_callback', event: other })
    assert.deepEqual([result, calls], [{}, []])
  }
})

test('a request with a wrong signature, or an old one, is refused', async () => {
  const body = JSON.stringify({ type: 'event_callback', event })
  const now = Math.floor(Date.now() / 1000)
  const cases: Record<string, string>[] = [
    {},
    headersOf(body, now, 'another secret'),
    headersOf(`${body} `, now),
    headersOf(body, now - 301),
    { ...headersOf(body, now), 'x-slack-request-timestamp': String(now - 1) },
    { ...headersOf(body, now), 'x-slack-signature': 'v0=' },
  ]
  for (const headers of cases) {
    const { result, calls } = await slack.handle({ headers, body })
    assert.equal(result.status, 401)
    assert.deepEqual(calls, [])
  }
})

const posted = 'POST https://slack.com/api/chat.postMessage'

test('the bot’s messages are posted, choices as lines, and a refusal of Slack is an error', async () => {
  const payload = { text: 'What would you like?', options: [{ label: 'tea', value: 'tea' }] }
  const message = { channel: 'channel', type: 'choice', payload, conversation: { tags: { id: 'D1' } } }
  const { fetches } = await slack.send(message, { answers: { fetch: { [posted]: { body: { ok: true } } } } })
  assert.equal(fetches[0]!.headers.authorization, 'Bearer xoxb-1')
  assert.deepEqual(JSON.parse(fetches[0]!.body!), { channel: 'D1', text: 'What would you like?\n• tea' })
  const refusal = { ok: false, error: 'not_in_channel' }
  const refused = await slack.send(message, { answers: { fetch: { [posted]: { body: refusal } } } })
  assert.equal(refused.error?.message, 'Slack refuses the message: not_in_channel')
  const busy = await slack.send(message, { answers: { fetch: { [posted]: { status: 429 } } } })
  assert.equal(busy.error?.message, 'Slack answers with 429')
})

async function receive(content: object) {
  const body = JSON.stringify(content)
  return slack.handle({ headers: headersOf(body, Math.floor(Date.now() / 1000)), body })
}

function headersOf(body: string, time: number, secret = signingSecret) {
  const digits = createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex')
  return { 'x-slack-request-timestamp': String(time), 'x-slack-signature': `v0=${digits}` }
}
