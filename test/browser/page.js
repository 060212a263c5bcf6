import * as chat from '@botpress/chat'

// For what a test wants to ask of the client itself.
globalThis.chat = chat

const [form, input, heard] = ['form', 'input', 'ol'].map((name) => document.querySelector(name))
const apiUrl = new URLSearchParams(location.search).get('apiUrl')

const client = await chat.Client.connect({ apiUrl })
const { conversation } = await client.createConversation({})
const listener = await client.listenConversation({ id: conversation.id })
listener.on('message_created', ({ isBot, payload }) => {
  const line = document.createElement('li')
  line.textContent = `${isBot ? 'Bot' : 'You'}: ${payload.text}`
  heard.append(line)
})

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const payload = { type: 'text', text: input.value }
  input.value = ''
  await client.createMessage({ conversationId: conversation.id, payload })
})
input.disabled = false
globalThis.conversation = { client, id: conversation.id }
