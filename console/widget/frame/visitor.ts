import type { FrameStorage } from './storage.ts'

/** The key of the visitor, and what the browser keeps for this visitor alone. */
export interface Visitor {
  /** Undefined for a new visitor. */
  key(): string | undefined
  /** The id by which the site names the visitor; undefined without a key of the site. */
  id(): string | undefined
  get(name: StoredName): string | undefined
  set(name: StoredName, value: string): void
  /** Keeps a key of the platform. A key of the site is the site's to keep. */
  keep(userKey: string): void
  /** Takes a key of the site. @returns whether it is that of another visitor */
  take(userKey: string): boolean
}

type StoredName = 'conversation' | 'seen'

/** @param siteKey a key that the site has signed */
export function openVisitor(storage: FrameStorage, siteKey: string | undefined): Visitor {
  let signed = siteKey
  const id = () => (signed === undefined ? undefined : idIn(signed))
  // The site's visitors may share the browser: each has names of their own.
  const nameOf = (name: StoredName) => (signed === undefined ? name : `${name}-${id()}`)
  return {
    key: () => signed ?? storage.get('key'),
    id,
    get: (name) => storage.get(nameOf(name)),
    set: (name, value) => storage.set(nameOf(name), value),
    keep(userKey) {
      if (signed === undefined) storage.set('key', userKey)
    },
    take(userKey) {
      const former = id()
      signed = userKey
      return id() !== former
    },
  }
}

/** The visitor whom a key names, or nothing legible. The platform verifies the key. */
function idIn(key: string): string {
  try {
    const claims = key.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(claims), (character) => character.charCodeAt(0))
    return String((JSON.parse(new TextDecoder().decode(bytes)) as { id?: unknown }).id)
  } catch {
    return ''
  }
}
