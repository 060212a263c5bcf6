import { render } from 'preact'
import './styles/base.css'
import './styles/parts.css'
import './styles/shell.css'
import './styles/bots.css'
import './styles/events.css'
import './styles/files.css'
import './styles/tables.css'
import './styles/bot.css'
import './styles/chat.css'
import './conversations/conversations.css'
import './webchat/webchat.css'
import './inbox/inbox.css'
import './parts/rows.ts'
import './state/theme.ts'
import { App } from './app.tsx'

// After an update the server no longer has the chunks of the old version: the page reloads once.
const reloadedAs = 'isobot.reloaded'
addEventListener('vite:preloadError', () => {
  if (sessionStorage.getItem(reloadedAs) === location.href) return
  sessionStorage.setItem(reloadedAs, location.href)
  location.reload()
})

render(<App />, document.getElementById('console')!)
