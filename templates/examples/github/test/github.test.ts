import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openIntegration } from 'isobot/test'

const secret = "It's a Secret to Everybody"
const folder = join(import.meta.dirname, '..', 'integrations', 'github')
const github = await openIntegration(folder, { configuration: { secret } })
after(() => github.close())

const repository = { full_name: 'acme/shop' }
const sender = { login: 'ann' }
const subject = { number: 7, title: 'The lamp is dark', html_url: 'https://github.com/acme/shop/issues/7' }

test('the signature is that of GitHub’s documentation', async () => {
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  const headers = { 'X-Hub-Signature-256': signature, 'X-GitHub-Event': 'push' }
  // The body is no JSON: with the right signature it is refused for that.
  assert.equal((await github.handle({ headers, body: 'Hello, World!' })).result.status, 400)
})

test('an issue becomes a message of its author in the conversation of the repository', async () => {
  const { result, calls } = await deliver('issues', { action: 'opened', repository, sender, issue: subject })
  assert.equal(result.status, 200)
  assert.deepEqual(
    calls.map(({ operation }) => operation),
    ['initializeIncomingMessage'],
  )
  assert.deepEqual(calls[0]!.input, {
    user: { name: 'ann', tags: { login: 'ann' } },
    conversation: { channel: 'repository', tags: { repository: 'acme/shop' } },
    message: {
      type: 'text',
      payload: { text: 'ann opened the issue #7 “The lamp is dark” https://github.com/acme/shop/issues/7' },
      tags: { delivery: '72d3162e' },
    },
  })
})

test('a ping and pull requests are announced, labels and other events are not', async () => {
  const merged = { ...subject, merged: true }
  assert.equal(
    await announced('ping', { zen: 'Keep it logically awesome.' }),
    'acme/shop is connected: Keep it logically awesome.',
  )
  assert.match(
    await announced('pull_request', { action: 'opened', pull_request: subject }),
    /^ann opened the pull request #7/,
  )
  assert.match(
    await announced('pull_request', { action: 'closed', pull_request: merged }),
    /^ann merged the pull request #7/,
  )
  for (const [type, action] of [
    ['issues', 'labeled'],
    ['push', ''],
  ] as const) {
    const { result, calls } = await deliver(type, { action, repository, sender, issue: subject })
    assert.equal(result.status, 202)
    assert.deepEqual(calls, [])
  }
})

test('a request without the right signature of its very bytes is refused, and nothing is said', async () => {
  const body = JSON.stringify({ zen: 'ä', repository, sender })
  const right = signatureOf(body)
  const wrong: [body: string | Uint8Array, signature: string | undefined][] = [
    [body, undefined],
    [body, ''],
    [body, right.replace('sha256=', 'sha1=')],
    [body, right.slice(0, -1)],
    [body, `${right.slice(0, -1)}${right.endsWith('0') ? '1' : '0'}`],
    [body, createHmac('sha256', 'another secret').update(body).digest('hex')],
    [body.replace('ä', 'a'), right],
    [`${body} `, right],
    [Buffer.from(body, 'latin1'), right],
  ]
  for (const [sent, signature] of wrong) {
    const headers = { 'x-github-event': 'ping', ...(signature !== undefined && { 'x-hub-signature-256': signature }) }
    const { result, calls } = await github.handle({ headers, body: sent })
    assert.equal(result.status, 401)
    assert.deepEqual(calls, [])
  }
  assert.equal((await deliver('ping', { zen: 'ä', repository, sender })).result.status, 200)
})

async function deliver(type: string, delivery: object) {
  const body = JSON.stringify(delivery)
  const headers = { 'X-GitHub-Event': type, 'X-GitHub-Delivery': '72d3162e', 'X-Hub-Signature-256': signatureOf(body) }
  return github.handle({ headers, body })
}

async function announced(type: string, delivery: object): Promise<string> {
  const { calls } = await deliver(type, { repository, sender, ...delivery })
  return calls[0]!.input.message.payload.text
}

function signatureOf(body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}
