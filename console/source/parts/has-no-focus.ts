/** Whether no control has the focus. In Safari a click on a button or a link gives it to the content of the page around it. */
export function hasNoFocus(): boolean {
  const { activeElement, body } = document
  return activeElement === null || activeElement === body || activeElement.id === 'content'
}
