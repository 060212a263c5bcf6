import { hasSingleKeysOff } from '../state/single-keys.ts'

/** In a list of links or buttons, the arrow keys, Home and End move the focus from row to row. */
export function moveBetweenRows(event: KeyboardEvent): void {
  const list = event.currentTarget
  if (!(list instanceof HTMLElement) || !(event.target instanceof HTMLElement)) return
  const rows = [...list.querySelectorAll<HTMLElement>('[data-row]')]
  const index = rows.findIndex((row) => row.contains(event.target as Node))
  const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: rows.length - 1 }[event.key]
  const row = next === undefined || index < 0 ? undefined : rows[next]
  if (!row) return
  event.preventDefault()
  row.focus()
}

/** Anywhere but in a field, `/` goes to the page's search field. */
addEventListener('keydown', (event) => {
  if (event.key !== '/' || hasSingleKeysOff.value || event.ctrlKey || event.metaKey || event.altKey) return
  if (
    event.target instanceof Element &&
    event.target.closest('input, textarea, select, [contenteditable], .monaco-editor')
  )
    return
  const search = document.querySelector<HTMLInputElement>('input[type="search"]')
  if (!search) return
  event.preventDefault()
  search.focus()
  search.select()
})
