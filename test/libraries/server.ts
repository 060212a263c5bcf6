import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The text in each answer of the server. */
export const heard = 'from the server'

/** The answers of the services of these libraries, with the fields that a first call reads. */
const answers: Record<string, object> = {
  'GET /json': { text: heard },
  'POST /json': { text: heard },
  'POST /v1/chat/completions': {
    id: 'one',
    object: 'chat.completion',
    created: 1,
    model: 'some',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: heard } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
  'POST /v1/messages': {
    id: 'one',
    type: 'message',
    role: 'assistant',
    model: 'some',
    content: [{ type: 'text', text: heard }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  'POST /v1beta/models/some:generateContent': {
    candidates: [{ content: { role: 'model', parts: [{ text: heard }] }, finishReason: 'STOP' }],
  },
  'POST /api/v10/channels/1/messages': { id: '1', content: heard },
  'POST /bot1:key/sendMessage': {
    ok: true,
    result: { message_id: 1, date: 1, chat: { id: 1, type: 'private' }, text: heard },
  },
  'GET /collections': { result: { collections: [{ name: heard }] }, status: 'ok', time: 0 },
  'GET /v1/users/me': { object: 'user', id: 'one', type: 'bot', name: heard, bot: {} },
  'GET /v1/customers/cus_1': { id: 'cus_1', object: 'customer', name: heard },
  'GET /repos/some/thing': { id: 1, name: 'thing', description: heard },
  'POST /api.test': { ok: true },
  'POST /emails': { id: heard },
  'POST /v3/a.example/messages': { id: 'one', message: heard },
  'POST /2010-04-01/Accounts/AC1/Messages.json': { sid: 'SM1', body: heard },
  'GET /calendar/v3/calendars/some/events': { items: [{ summary: heard }] },
  'PUT /some/thing': {},
  'GET /some/thing': { text: heard },
  'POST /pipeline': [{ result: Buffer.from(heard).toString('base64') }],
  'GET /rest/v1/rooms': [{ name: heard }],
}

export interface LibraryServer extends AsyncDisposable {
  url: string
}

/** Starts a server on this machine that speaks as much of the services' wire formats as one call of each needs. */
export async function openServer(): Promise<LibraryServer> {
  const server = createServer(async (request, response) => {
    // A client may wait for its body to be read.
    request.resume()
    await once(request, 'end')
    const path = new URL(request.url ?? '/', 'http://server').pathname
    const answer = answers[`${request.method} ${path}`]
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json', etag: '"one"' })
    response.end(JSON.stringify(answer ?? { error: { message: `There is no ${request.method} ${path}` } }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
