import { computed, signal } from '@preact/signals'

const base = '/console'

const address = signal(location.pathname + location.search)

/** The parts of the path after `/console`, for instance `['bots', 'bot_…', 'events']`. */
export const segments = computed(() => {
  const path = new URL(address.value, location.origin).pathname.slice(base.length)
  return path.split('/').filter(Boolean).map(decodeURIComponent)
})

/** The query parameters of the page: filters, a line, a range. */
export const query = computed(() => new URL(address.value, location.origin).searchParams)

/** The address of a page of the console. */
export function to(...parts: string[]): string {
  return [base, ...parts.map(encodeURIComponent)].join('/')
}

/** Opens a page of the console, at its top. Back leads to the former one, where the browser restores its position. */
export function navigate(path: string, { replace = false } = {}): void {
  const from = address.value
  if (replace) history.replaceState(history.state, '', path)
  else history.pushState({ from } satisfies Entry, '', path)
  address.value = location.pathname + location.search
  if (!replace && pageOf(from) !== pageOf(address.value)) scrollTo(0, 0)
}

/** Whether the browser is on its way to the entry before. */
let isGoingBack = false

/** Closes what was opened from a list: the list is where it was. A second call on the way, as by a double click, does nothing. */
export function goBackTo(list: string): void {
  if (isGoingBack) return
  isGoingBack = (history.state as Entry | null)?.from === list
  if (isGoingBack) history.back()
  else navigate(list)
}

/** The state of an entry of the history. */
interface Entry {
  /** The address of the entry before. */
  from: string
}

/** The part of an address whose change opens another page. Beside a list of events, versions or rows, its entries open. */
function pageOf(address: string): string {
  const parts = new URL(address, location.origin).pathname.split('/')
  const tab = parts[4] ?? ''
  return parts.slice(0, { events: 5, versions: 5, tables: 6 }[tab] ?? parts.length).join('/')
}

/** Sets or, with an empty value, removes parts of the query, without a new entry in the history. */
export function setQuery(changes: Record<string, string>): void {
  const next = new URL(location.href)
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.searchParams.delete(name)
    else next.searchParams.set(name, value)
  }
  navigate(next.pathname + next.search, { replace: true })
}

addEventListener('popstate', () => {
  isGoingBack = false
  address.value = location.pathname + location.search
})

/** Links within the console change the page without loading it again; with a modifier they do what links do. */
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (!link || link.target || link.hash || link.origin !== location.origin) return
  if (link.pathname !== base && !link.pathname.startsWith(`${base}/`)) return
  event.preventDefault()
  navigate(link.pathname + link.search)
})
