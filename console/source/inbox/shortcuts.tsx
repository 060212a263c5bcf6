import type { JSX } from 'preact'
import { Dialog } from '../parts/dialog.tsx'
import { hasSingleKeysOff } from '../state/single-keys.ts'

/**
 * The keys of the inbox: a row of the list takes them while it has the focus, the open conversation also while nothing has
 * it.
 */
const actions: Record<string, string> = {
  t: 'Take over',
  r: 'Write a reply',
  n: 'Write a note',
  a: 'Assign to a member',
  e: 'Hand back to the bot',
  i: 'Show the details',
}

const moves: [keys: string[], effect: string][] = [
  [['↑', '↓'], 'Move in the list'],
  [['Enter'], 'Open the conversation, send the text'],
  [['Esc'], 'Leave the field, then the conversation'],
  [['/'], 'Search; in a reply: canned replies'],
]

/**
 * The shortcut that a key press is, or undefined: characters belong to fields and dialogs that have the focus, and keys
 * with a modifier to the browser. There is none while shortcuts of a single character are off.
 */
export function shortcutOf(event: KeyboardEvent): string | undefined {
  const { key, target } = event
  if (hasSingleKeysOff.value) return undefined
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return undefined
  if (!(target instanceof Element) || target.closest('input, textarea, select, dialog')) return undefined
  return key === '?' || Object.hasOwn(actions, key) ? key : undefined
}

export function ShortcutsDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const rows = [...moves, ...Object.entries(actions).map(([key, effect]) => [[key.toUpperCase()], effect] as const)]
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div class="dialog-text">
        <dl class="shortcuts">
          {rows.map(([keys, effect]) => (
            <div key={effect}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{effect}</dd>
            </div>
          ))}
        </dl>
        <p class="quiet">Letters act on the row that has the focus, or on the open conversation.</p>
        <label class="check">
          <input
            type="checkbox"
            checked={!hasSingleKeysOff.value}
            onChange={({ currentTarget }) => (hasSingleKeysOff.value = !currentTarget.checked)}
          />
          Use shortcuts of a single character, in this browser
        </label>
      </div>
    </Dialog>
  )
}
