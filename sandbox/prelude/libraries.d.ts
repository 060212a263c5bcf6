/** Libraries whose packages tell no types, as far as they are used here. */

declare module 'event-target-shim' {
  export type Event = globalThis.Event
  export const Event: typeof globalThis.Event
  export type EventTarget = globalThis.EventTarget
  export const EventTarget: typeof globalThis.EventTarget
}

declare module 'path-browserify' {
  const path: object
  export default path
}
