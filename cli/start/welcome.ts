import { join } from 'node:path'
import type { SavedCredentials } from './credentials.ts'

/**
 * The text that `npm start` prints when all processes run: addresses, and a conversation to paste into a terminal.
 *
 * @param webchatUrl address of the example bot's web chat, if it has one
 */
export function welcome(saved: SavedCredentials, directory: string, webchatUrl: string | undefined): string {
  const chat = `${saved.chatUrl}/${saved.webhookId}`
  return `
Isobot is running at ${saved.baseUrl}

  Console        ${saved.baseUrl}/console   (sign in with the admin token)
  Admin API      ${saved.baseUrl}/v1/admin
  Runtime API    ${saved.baseUrl}/v1/chat
  Chat API       ${chat}   (the example bot ${saved.botId})${webchatUrl === undefined ? '' : `\n  Web chat       ${webchatUrl}/chat`}

  Workspace      ${saved.workspaceId}
  Admin token    ${saved.token}
  All of this is in ${join(directory, 'credentials.json')}

Talk to the example bot in another terminal:

  npx isobot chat echo

in a browser, at the address of its web chat, or with curl alone:

  chat=${chat}
  key=$(curl -s $chat/users -d '{}' | sed 's/.*"key":"\\([^"]*\\)".*/\\1/')
  conversation=$(curl -s $chat/conversations -H "x-user-key: $key" -d '{}' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
  curl -s $chat/messages -H "x-user-key: $key" -d '{"conversationId":"'$conversation'","payload":{"type":"text","text":"Hi there"}}'; echo
  sleep 1; curl -s $chat/conversations/$conversation/messages -H "x-user-key: $key"; echo

Ctrl-C stops everything; the data stays in ${directory}
`
}
