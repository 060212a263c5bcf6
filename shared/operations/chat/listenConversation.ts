import { listening } from '../../models/listening.ts'
import { operation } from '../../rpc/operation.ts'
import { listeningInput, listenTo } from './listen-to.ts'

export const listenConversation = operation({
  name: 'listenConversation',
  description:
    'Streams the conversation’s signals, as server-sent events or over a WebSocket. A client that reconnects sends ' +
    '`Last-Event-ID`; the stream then begins with the entries after that id.',
  method: 'GET',
  // Published clients do not encode the id: a slash in it separates segments.
  path: '/chat/{webhookId}/conversations/{id*}/listen',
  access: 'user',
  errors: ['Forbidden'],
  opensStream: true,
  input: listeningInput,
  output: listening,

  handle: listenTo,
})
