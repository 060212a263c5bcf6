import { listening } from '../../models/listening.ts'
import { operation } from '../../rpc/operation.ts'
import { listeningInput, listenTo } from '../chat/listen-to.ts'

export const listenConversation = operation({
  name: 'listenConversation',
  description:
    'Streams the conversation’s signals as the Chat API does: with ids, and from the position that `Last-Event-ID` ' +
    'names.',
  method: 'GET',
  path: '/webchat/{webhookId}/conversations/{id}/listen',
  access: 'user',
  errors: ['Forbidden'],
  opensStream: true,
  input: listeningInput,
  output: listening,
  handle: listenTo,
})
