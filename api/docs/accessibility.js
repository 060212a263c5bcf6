/**
 * Names and roles that the renderer omits, by selector. They are set again after each rendering, because operations are
 * rendered when they are opened.
 *
 * @type {[selector: string, attributes: (element: Element) => Record<string, string>][]}
 */
const missing = [
  ['.information-container', () => ({ role: 'banner' })],
  ['.scheme-container', () => ({ role: 'region', 'aria-label': 'Authorization' })],
  ['.filter-container', () => ({ role: 'search' })],
  ['.operation-filter-input', () => ({ 'aria-label': 'Filter by tag' })],
  // Heading levels continue from the page's title without gaps.
  ['.opblock-tag, .models > h4', () => ({ role: 'heading', 'aria-level': '2' })],
  ['.opblock h4', () => ({ role: 'heading', 'aria-level': '3' })],
  ['.opblock h5', () => ({ role: 'heading', 'aria-level': '4' })],
  ['.responses-table', ({ id }) => ({ 'aria-label': id.replaceAll('_', ' ') })],
  ['.examples-select-element', () => ({ 'aria-label': 'Example' })],
  ['.body-param__text', () => ({ 'aria-label': 'Request body' })],
  // Makes scrollable blocks reachable with the keyboard.
  ['.microlight', () => ({ tabindex: '0' })],
]

/** Keeps the renderer's page accessible to screen readers and the keyboard. */
export function keepAccessible(page) {
  const mend = () => {
    for (const [selector, attributes] of missing) {
      for (const element of page.querySelectorAll(selector)) {
        for (const [name, value] of Object.entries(attributes(element))) {
          if (element.getAttribute(name) !== value) element.setAttribute(name, value)
        }
      }
    }
  }
  new MutationObserver(mend).observe(page, { childList: true, subtree: true })
  mend()
}
