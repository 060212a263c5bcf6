import type { Appearance } from '../../shared/models/webchat-appearance.ts'
import { clientIdOf, createWidget, type Options, type Widget } from './inject/widget.ts'

/** The appearance of the installation, which the platform writes before this script. */
declare const ISOBOT_APPEARANCE: Appearance

/** Calls that the page made before the script arrived: names of members with their arguments. */
type EarlyCalls = [member: keyof Widget, ...parameters: unknown[]][]

/**
 * `inject.js`: `<script src="https://<platform>/webchat/<webhookId>/inject.js" async></script>` shows the bubble. With
 * `data-selector="#chat"` an element of the page gets the chat; with `data-init="manual"` the page calls `botpress.init`.
 */
function start(): void {
  const script = document.currentScript
  if (!(script instanceof HTMLScriptElement)) return
  const page = window as { botpress?: Widget | EarlyCalls }
  const early = page.botpress
  const base = new URL('.', script.src)
  const { selector, init } = script.dataset
  if (early && !Array.isArray(early)) {
    if (early.clientId !== clientIdOf(base)) {
      // oxlint-disable-next-line no-console -- The developer of the page looks there.
      console.warn(
        `Isobot: the page has the web chat ${early.clientId} already. The one of ${script.src} is not shown.`,
      )
    } else if (selector !== undefined && init !== 'manual') {
      // The page has the script twice, or a site that changes pages without loading them has put it into the new one.
      early.init({ selector })
    }
    return
  }
  const widget = createWidget(base, ISOBOT_APPEARANCE)
  page.botpress = widget
  const run = (calls: EarlyCalls = []) => {
    for (const [member, ...parameters] of calls) {
      const call: unknown = widget[member]
      if (typeof call === 'function') call(...parameters)
    }
  }
  const begin = () => {
    // Listeners come first, so that they receive the first events.
    run(early?.filter(([member]) => member === 'on'))
    if (init !== 'manual') widget.init(selector === undefined ? {} : ({ selector } satisfies Options))
    run(early?.filter(([member]) => member !== 'on'))
  }
  if (document.body && document.readyState !== 'loading') begin()
  else addEventListener('DOMContentLoaded', begin, { once: true })
}

start()
