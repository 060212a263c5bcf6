export type Listener = (data: unknown) => void

/** Listeners of `window.botpress`, by the name of the event; `*` receives all, with their names. */
export interface Events {
  /** @returns a function that removes the listener */
  on(name: string, listener: Listener): () => void
  off(name: string, listener: Listener): void
  emit(name: string, data?: unknown): void
}

export function openEvents(): Events {
  const listeners = new Map<string, Set<Listener>>()
  const off: Events['off'] = (name, listener) => void listeners.get(name)?.delete(listener)

  function notify(name: string, data: unknown): void {
    for (const listener of listeners.get(name) ?? []) {
      try {
        listener(data)
      } catch (error) {
        // An error in one listener must not keep the event from the next one.
        reportError(error)
      }
    }
  }

  return {
    on(name, listener) {
      const known = listeners.get(name)
      if (known) known.add(listener)
      else listeners.set(name, new Set([listener]))
      return () => off(name, listener)
    },
    off,
    emit(name, data) {
      notify(name, data)
      notify('*', { type: name, data })
    },
  }
}
