import type { JSX } from 'preact'
import { dismiss, notices } from '../state/notices.ts'
import { Icon } from './icons.tsx'

const icons = { good: 'check', bad: 'alert', busy: 'replay' } as const

/** Notices about the results of actions. */
export function Notices(): JSX.Element {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, kind, text }) => (
        <div key={id} class={`notice ${kind}`}>
          <Icon name={icons[kind]} />
          <span>{text}</span>
          <button type="button" class="button icon-only" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
