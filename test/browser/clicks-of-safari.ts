/**
 * A script for pages in Chromium, in which clicks move the focus as in Safari: a button or a link gets no focus by a click, the
 * element around it that can have it does.
 */
export const clicksOfSafari = `addEventListener('mousedown', (event) => {
  if (event.defaultPrevented || event.button !== 0) return
  const clicked = event.composedPath()[0].closest('button, a[href], summary, [type=checkbox], [type=radio], [type=file]')
  if (!clicked || clicked.hasAttribute('tabindex')) return
  event.preventDefault()
  const around = clicked.parentElement.closest('[tabindex]')
  if (around) around.focus({ preventScroll: true })
  else document.activeElement.blur()
})`
