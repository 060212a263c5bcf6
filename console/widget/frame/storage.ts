/**
 * A storage of the platform's origin, which browsers divide by the site that shows the frame: names of one web chat. Where
 * it is refused or full, the memory of this document takes its place.
 */
export interface FrameStorage {
  get(name: string): string | undefined
  set(name: string, value: string): void
  remove(name: string): void
  /** The stored names that begin so, in order. */
  names(prefix: string): string[]
  /** Calls back when another tab changes a name that begins so. */
  onChange(prefix: string, listener: () => void): void
}

/** @param area that of the browser, or that of the tab */
export function openStorage(webhookId: string, area: 'localStorage' | 'sessionStorage' = 'localStorage'): FrameStorage {
  const root = `isobot-webchat-${webhookId}-`
  const memory = new Map<string, string>()
  return {
    get: (name) =>
      attempt(
        () => memory.get(name) ?? window[area].getItem(root + name) ?? undefined,
        () => memory.get(name),
      ),
    set: (name, value) =>
      attempt(
        () => {
          window[area].setItem(root + name, value)
          // An earlier value that the storage has refused would hide this one.
          memory.delete(name)
        },
        () => void memory.set(name, value),
      ),
    remove(name) {
      memory.delete(name)
      attempt(
        () => window[area].removeItem(root + name),
        () => {},
      )
    },
    names(prefix) {
      const stored = attempt(
        () => Object.keys(window[area]).filter((name) => name.startsWith(root + prefix)),
        () => [],
      )
      const own = [...memory.keys()].filter((name) => name.startsWith(prefix))
      return [...stored.map((name) => name.slice(root.length)), ...own].toSorted()
    },
    onChange(prefix, listener) {
      addEventListener('storage', ({ key }) => {
        if (key === null || key.startsWith(root + prefix)) listener()
      })
    },
  }
}

function attempt<T>(work: () => T, otherwise: () => T): T {
  try {
    return work()
  } catch {
    return otherwise()
  }
}
