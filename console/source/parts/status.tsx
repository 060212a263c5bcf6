import type { ComponentChildren, JSX } from 'preact'

export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'busy'

/** The word for a state, with a dot in the state's colour. */
export function Status({ tone, children }: { tone: Tone; children: ComponentChildren }): JSX.Element {
  return <span class={`status ${tone}`}>{children}</span>
}

const tones: Record<string, Tone> = {
  processed: 'good',
  registered: 'good',
  done: 'good',
  completed: 'good',
  in_progress: 'busy',
  finalizing: 'busy',
  failed: 'bad',
  registration_failed: 'bad',
  unregistration_failed: 'bad',
  upload_completed: 'good',
  indexing_completed: 'good',
  upload_failed: 'bad',
  indexing_failed: 'bad',
  upload_pending: 'busy',
  indexing_pending: 'busy',
  indexing_in_progress: 'busy',
  pending: 'busy',
  registration_pending: 'busy',
  unregistration_pending: 'busy',
  scheduled: 'busy',
  retried: 'warn',
  unknown: 'warn',
}

/** The state of an event, a run, a file, a job or an installation, in the API's own word. */
export function Outcome({ of }: { of: string }): JSX.Element {
  return <Status tone={tones[of] ?? 'quiet'}>{of.replace('_', ' ')}</Status>
}
