import {
  Chat,
  StylesheetProvider,
  useActiveConversation,
  useConversations,
  useUser,
  Webchat,
  WebchatProvider,
} from '@botpress/webchat'
import { createElement as element, Fragment, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

const query = new URLSearchParams(location.search)
const [apiUrl, clientId] = [query.get('apiUrl'), query.get('clientId')]
document.querySelector('form').remove()
document.querySelector('ol').remove()
const root = document.createElement('div')
root.style.cssText = 'position:fixed;inset:0'
document.body.append(root)

const configuration = { botName: 'Ada', feedbackEnabled: true, conversationHistory: true, allowFileUpload: true }
const look = { color: '#3276ea', radius: 2, themeMode: 'light', variant: 'solid', fontFamily: 'sans-serif' }

/** A chat that the bot shows, hides and configures, as the package documents it: its components with its hooks. */
function GuidedChat() {
  const { on, status, saveMessageFeedback, isAwaitingResponse, ...active } = useActiveConversation()
  const { openConversation, listConversations } = useConversations()
  const { userCredentials } = useUser()
  const [isOpen, setIsOpen] = useState(true)
  const [changes, setChanges] = useState({})
  useEffect(
    () => on('webchatVisibility', (wanted) => setIsOpen((open) => (wanted === 'toggle' ? !open : wanted === 'show'))),
    [on],
  )
  useEffect(() => on('webchatConfig', setChanges), [on])
  const props = {
    ...active,
    isOpen,
    clientId,
    listConversations,
    configuration: { ...configuration, ...changes },
    user: userCredentials,
    isLoading: status === 'connecting',
    connected: status === 'connected',
    addMessageFeedback: saveMessageFeedback,
    restartConversation: openConversation,
    disableSendButton: isAwaitingResponse,
  }
  return isOpen ? element(Chat, props) : element('p', null, 'The chat is hidden')
}

const chat = query.has('guided')
  ? element(WebchatProvider, { apiUrl, clientId }, element(GuidedChat))
  : element(Webchat, { apiUrl, clientId, configuration })
createRoot(root).render(element(Fragment, null, element(StylesheetProvider, look), chat))
