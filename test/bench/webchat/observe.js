// Runs in each document before its own scripts, and keeps its moments (`Times` in compare.ts) in `window.benchmark`.
{
  const times = { replies: {} }
  globalThis.benchmark = times
  const { timeOrigin } = performance
  const at = (moment) => timeOrigin + moment
  addEventListener('click', ({ timeStamp }) => (times.clicked = at(timeStamp)), { capture: true })
  addEventListener(
    'keydown',
    ({ key, timeStamp }) => {
      if (key === 'Enter') times.sent = at(timeStamp)
    },
    { capture: true },
  )

  /** Calls back after the next frame is painted. */
  const painted = (report) =>
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel()
      port1.addEventListener('message', () => report(at(performance.now())), { once: true })
      port1.start()
      port2.postMessage(undefined)
    })

  let isShown = false
  let newest
  const look = () => {
    if (!isShown && document.querySelector('textarea:enabled')) {
      isShown = true
      painted((moment) => (times.field = moment))
    }
    const text = [...document.querySelectorAll('.theirs')].at(-1)?.lastElementChild?.textContent
    if (text === undefined || text === newest) return
    newest = text
    if (text === 'Welcome') painted((moment) => (times.welcome ??= moment))
    else painted((moment) => (times.replies[text] = moment))
  }
  if (location.pathname.endsWith('/frame')) {
    new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true })
  }
}
