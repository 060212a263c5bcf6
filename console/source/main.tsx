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

// After an update the server no longer has the chunks of the old version: the page reloads once. While no server answers,
// it stays: the browser would show an error in its place, and texts that are not deployed would be gone.
const reloadedAs = 'isobot.reloaded'
addEventListener('vite:preloadError', () => {
  if (sessionStorage.getItem(reloadedAs) !== location.href) void reloadIfUpdated()
})

async function reloadIfUpdated(): Promise<void> {
  const response = await fetch('/console').catch(() => undefined)
  if (!response?.ok || (await response.text()).includes(new URL(import.meta.url).pathname)) return
  sessionStorage.setItem(reloadedAs, location.href)
  location.reload()
}

// The page has words for older browsers, in which the console would have no colours and no requests.
if ('any' in AbortSignal && CSS.supports('color', 'light-dark(#000, #fff)')) {
  const root = document.getElementById('console')!
  root.replaceChildren()
  render(<App />, root)
}
