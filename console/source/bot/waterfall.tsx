import type { JSX } from 'preact'
import type { Run, Step } from '../api/types.ts'
import { formatMilliseconds, plural } from '../format.ts'
import { ModelCall } from './model-call.tsx'
import { Outcome } from '../parts/status.tsx'

interface Bar {
  label: string
  kind: string
  depth: number
  /** Milliseconds since the event could be handled. */
  start: number
  milliseconds: number
  note: string
  isBad: boolean
  model?: Step['model']
}

const words: Record<string, string> = { load: 'start the code', queue: 'wait in queue' }

/** The time of a run by part: in the queue, in each hook and in each call. */
export function Waterfall({ run, isOnly }: { run: Run; isOnly: boolean }): JSX.Element {
  const bars = barsOf(run)
  const whole = Math.max(0.1, (run.queueMilliseconds ?? 0) + run.milliseconds)
  return (
    <div class="waterfall">
      {!isOnly && (
        <h4>
          Attempt {run.attempt} <Outcome of={run.outcome} />
        </h4>
      )}
      <ol class="plain" aria-label={`Steps of attempt ${run.attempt}`}>
        {bars.map((bar, index) => (
          <li key={index} class={`${bar.kind} ${bar.isBad ? 'bad' : ''}`}>
            <span class="step" style={{ paddingInlineStart: `${bar.depth * 0.875}rem` }} title={bar.label}>
              {bar.label}
            </span>
            <span class="bar" aria-hidden="true">
              <i
                style={{
                  insetInlineStart: `${Math.min(99.5, (bar.start / whole) * 100)}%`,
                  width: `${Math.max(0.5, Math.min(100, (bar.milliseconds / whole) * 100))}%`,
                }}
              />
            </span>
            <span class="number">
              {formatMilliseconds(bar.milliseconds)}
              {bar.note && <small>{bar.note}</small>}
            </span>
            {bar.model && <ModelCall call={bar.model} />}
          </li>
        ))}
      </ol>
      {run.stepsLeftOut > 0 && <p class="quiet">{plural(run.stepsLeftOut, 'further step')} not kept.</p>}
      {run.error && !isOnly && <p class="error-message">{run.error.message}</p>}
    </div>
  )
}

function barsOf(run: Run): Bar[] {
  const queue = run.queueMilliseconds ?? 0
  const waited = {
    label: words['queue']!,
    kind: 'queue',
    depth: 0,
    start: 0,
    milliseconds: queue,
    note: '',
    isBad: false,
  }
  return [waited, ...run.steps.map((step) => ({ ...toBar(step), start: queue + step.start }))]
}

function toBar(step: Step): Bar {
  const { kind, name, depth, start, milliseconds, status = 0, failure, model } = step
  const note = failure ?? (status >= 400 ? String(status) : '')
  return {
    label: words[kind] ?? name,
    kind,
    depth,
    start,
    milliseconds,
    note,
    isBad: note !== '',
    ...(model && { model }),
  }
}
