import type { ComponentChildren, JSX } from 'preact'
import { Time } from './time.tsx'

/** A number, with a note below it. */
export type Figure = [label: string, value: string, note: ComponentChildren, tone?: string]

export function Figures({ figures }: { figures: Figure[] }): JSX.Element {
  return (
    <dl class="figures">
      {figures.map(([label, value, note, tone = '']) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class={tone}>{value}</dd>
          <dd class="note">{note}</dd>
        </div>
      ))}
    </dl>
  )
}

/** The note of a number of waiting events. */
export function OldestWaiting({ at }: { at: string | undefined }): JSX.Element {
  return at ? (
    <>
      the oldest since <Time at={at} />
    </>
  ) : (
    <>no events are late</>
  )
}
