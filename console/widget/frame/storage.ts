/**
 * The storage of the platform's origin, which browsers divide by the site that shows the frame: names of one web chat.
 * Where it is refused, the memory of this document takes its place.
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

export function openStorage(webhookId: string): FrameStorage {
  const root = `isobot-webchat-${webhookId}-`
  const memory = new Map<string, string>()
  return {
    get: (name) =>
      attempt(
        () => memory.get(name) ?? localStorage.getItem(root + name) ?? undefined,
        () => memory.get(name),
      ),
    set: (name, value) =>
      attempt(
        () => localStorage.setItem(root + name, value),
        () => void memory.set(name, value),
      ),
    remove(name) {
      memory.delete(name)
      attempt(
        () => localStorage.removeItem(root + name),
        () => {},
      )
    },
    names(prefix) {
      const stored = attempt(
        () => Object.keys(localStorage).filter((name) => name.startsWith(root + prefix)),
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
