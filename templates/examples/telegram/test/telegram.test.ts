import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openIntegration } from 'isobot/test'

const folder = join(import.meta.dirname, '..', 'integrations', 'telegram')
const telegram = await openIntegration(folder, { configuration: { token: '42:abc' } })
after(() => telegram.close())

const address = (method: string) => `https://api.telegram.org/bot42:abc/${method}`
const accepted = {
  answers: {
    fetch: Object.fromEntries(
      ['setWebhook', 'sendMessage', 'sendPhoto'].map((method) => [address(method), { body: { ok: true } }]),
    ),
  },
}

// Telegram gets the token at the installation, and sends it with each update.
const {
  fetches: [registration],
} = await telegram.register(accepted)
const { url, secret_token: secret } = JSON.parse(registration!.body!)

test('the installation tells Telegram the address and a secret that is not the token', () => {
  assert.equal(registration!.url, address('setWebhook'))
  assert.match(url, /\/webhooks\//)
  assert.match(secret, /^[0-9a-f]{64}$/)
})

test('a token that Telegram refuses is the reason of the failed registration, without the token', async () => {
  const fetch = { [address('setWebhook')]: { status: 401, body: { ok: false, description: 'Unauthorized' } } }
  const { error } = await telegram.register({ answers: { fetch } })
  assert.equal(error?.message, 'Telegram refuses setWebhook: Unauthorized')
})

const update = {
  update_id: 7,
  message: {
    text: 'A tea, please',
    chat: { id: -100 },
    from: { id: 5, is_bot: false, first_name: 'Ann', last_name: 'Lee' },
  },
}

test('an update becomes a message of its sender in its chat', async () => {
  const { calls } = await receive(update, secret)
  assert.deepEqual(
    calls.map(({ input }) => input),
    [
      {
        user: { name: 'Ann Lee', tags: { id: '5' } },
        conversation: { channel: 'chat', tags: { id: '-100' } },
        message: { type: 'text', payload: { text: 'A tea, please' }, tags: { id: '7' } },
      },
    ],
  )
})

test('updates without a text, and those of bots, are passed over', async () => {
  const bot = { ...update.message, from: { ...update.message.from, is_bot: true } }
  for (const other of [{ update_id: 8 }, { update_id: 8, message: bot }, { ...update, message: { chat: { id: 1 } } }]) {
    const { result, calls } = await receive(other, secret)
    assert.deepEqual([result, calls], [{}, []])
  }
})

test('a request without the secret is refused', async () => {
  for (const wrong of [undefined, '', 'x', secret.slice(0, -1), `${secret}0`, secret + secret, '0'.repeat(64)]) {
    const { result, calls } = await receive(update, wrong)
    assert.equal(result.status, 401)
    assert.deepEqual(calls, [])
  }
})

test('texts, pictures and choices are sent; a choice is a keyboard', async () => {
  const sent = async (type: string, payload: object) => {
    const message = { channel: 'chat', type, payload, conversation: { tags: { id: '-100' } } }
    const { fetches, error } = await telegram.send(message, accepted)
    assert.equal(error, undefined)
    return [fetches[0]!.url, JSON.parse(fetches[0]!.body!)]
  }
  const keyboard = { keyboard: [[{ text: 'tea' }]], one_time_keyboard: true, resize_keyboard: true }
  assert.deepEqual(await sent('choice', { text: 'What?', options: [{ label: 'tea', value: 'tea' }] }), [
    address('sendMessage'),
    { chat_id: '-100', text: 'What?', reply_markup: keyboard },
  ])
  assert.deepEqual(await sent('text', { text: 'One tea.' }), [
    address('sendMessage'),
    { chat_id: '-100', text: 'One tea.', reply_markup: { remove_keyboard: true } },
  ])
  const imageUrl = 'https://example.com/tea.png'
  assert.deepEqual(await sent('image', { imageUrl }), [address('sendPhoto'), { chat_id: '-100', photo: imageUrl }])
})

async function receive(content: object, token: string | undefined) {
  const headers = token === undefined ? {} : { 'X-Telegram-Bot-Api-Secret-Token': token }
  return telegram.handle({ headers, body: JSON.stringify(content) })
}
