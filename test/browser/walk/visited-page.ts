/** A browser with one page, as much of it as a walk needs. Expressions are JavaScript. */
export interface VisitedPage extends AsyncDisposable {
  /** The browser with its version. */
  name: string
  open(url: string): Promise<void>
  /** The value of an expression, a promise's result included, in the page or in the frame of the chat. It has to be JSON. */
  value<Value>(expression: string, where?: Where): Promise<Value>
  /** Clicks the middle of the element that an expression gives. */
  click(expression: string, where?: Where): Promise<void>
  /** Presses keys one after the other; `\uE007` is Enter. */
  press(keys: string): Promise<void>
}

export type Where = 'page' | 'frame'

/** The frame of the chat, in a page with the widget. */
export const chatFrame = `document.querySelector('[data-isobot]').shadowRoot.querySelector('iframe')`
