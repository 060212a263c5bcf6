import { signal, type ReadonlySignal } from '@preact/signals'
import type { FrameStorage } from './storage.ts'
import type { Visitor } from './visitor.ts'

/** The text in the field that is not sent yet. It outlives the list of conversations, and a reload or a change of the page. */
export interface Draft {
  readonly text: ReadonlySignal<string>
  write(text: string): void
  /** Begins anew with another visitor. */
  restart(): void
}

/** @param storage of the tab: in another one the visitor writes something else */
export function openDraft(storage: FrameStorage, visitor: Visitor): Draft {
  const name = () => (visitor.id() === undefined ? 'draft' : `draft-${visitor.id()}`)
  const text = signal(storage.get(name()) ?? '')
  return {
    text,
    write(written) {
      text.value = written
      if (written === '') storage.remove(name())
      else storage.set(name(), written)
    },
    restart: () => (text.value = storage.get(name()) ?? ''),
  }
}
