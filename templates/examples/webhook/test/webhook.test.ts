import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openIntegration } from 'isobot/test'

const token = 'a-token-of-the-tests'
const url = 'https://api.example.com/messages'
const folder = join(import.meta.dirname, '..', 'integrations', 'webhook')
const service = await openIntegration(folder, { configuration: { token, url } })
after(() => service.close())

const message = { id: 'm1', conversation: 'c1', user: 'u1', name: 'Ann', text: 'A tea, please' }
const authorization = `Bearer ${token}`

test('a message of the service is one of its user in its conversation', async () => {
  const { result, calls } = await service.handle({ headers: { authorization }, body: JSON.stringify(message) })
  assert.equal(result.status, 202)
  assert.deepEqual(
    calls.map(({ operation, input }) => [operation, input]),
    [
      [
        'initializeIncomingMessage',
        {
          user: { name: 'Ann', tags: { id: 'u1' } },
          conversation: { channel: 'conversation', tags: { id: 'c1' } },
          message: { type: 'text', payload: { text: 'A tea, please' }, tags: { id: 'm1' } },
        },
      ],
    ],
  )
})

test('a request without the token, or without a message, is refused', async () => {
  const body = JSON.stringify(message)
  for (const headers of [
    {},
    { authorization: token },
    { authorization: `${authorization}x` },
    { authorization: 'Bearer ' },
  ]) {
    const { result, calls } = await service.handle({ headers, body })
    assert.equal(result.status, 401)
    assert.deepEqual(calls, [])
  }
  for (const wrong of [
    '',
    'text',
    'null',
    '[]',
    '{}',
    JSON.stringify({ ...message, text: 1 }),
    JSON.stringify({ ...message, id: '' }),
  ]) {
    const { result, calls } = await service.handle({ headers: { authorization }, body: wrong })
    assert.equal(result.status, 400)
    assert.deepEqual(calls, [])
  }
})

test('a message of the bot is sent with a signature, and a refusal of the service is an error', async () => {
  const delivery = {
    channel: 'conversation',
    type: 'text',
    payload: { text: 'One tea.' },
    conversation: { tags: { id: 'c1' } },
    message: { id: 'msg_1' },
  }
  const sent = await service.send(delivery, { answers: { fetch: { [`POST ${url}`]: { status: 200 } } } })
  assert.equal(sent.status, 'done')
  const [request] = sent.fetches
  assert.deepEqual(JSON.parse(request!.body!), {
    id: 'msg_1',
    conversation: 'c1',
    type: 'text',
    payload: { text: 'One tea.' },
  })
  const expected = createHmac('sha256', token).update(request!.body!).digest('hex')
  assert.equal(request!.headers['x-signature'], `sha256=${expected}`)

  const refused = await service.send(delivery, { answers: { fetch: { [`POST ${url}`]: { status: 503 } } } })
  assert.equal(refused.error?.message, 'The service answers with 503')
})
