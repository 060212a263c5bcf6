import { StylesheetProvider, Webchat } from '@botpress/webchat'
import { createElement as element, Fragment } from 'react'
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
createRoot(root).render(
  element(Fragment, null, element(StylesheetProvider, look), element(Webchat, { apiUrl, clientId, configuration })),
)
