/** Libraries whose packages tell no types, as far as they are used here. */

declare module 'core-js/stable/atob'
declare module 'core-js/stable/btoa'
declare module 'core-js/web/dom-exception'
declare module 'core-js/web/structured-clone'
declare module 'core-js/web/url'
declare module 'core-js/web/url-search-params'

declare module 'event-target-shim' {
  export type Event = globalThis.Event
  export const Event: typeof globalThis.Event
  export const EventTarget: typeof globalThis.EventTarget
}

declare module 'path-browserify' {
  const path: object
  export default path
}
