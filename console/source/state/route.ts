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

export function navigate(path: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', path)
  else history.pushState(null, '', path)
  address.value = location.pathname + location.search
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
