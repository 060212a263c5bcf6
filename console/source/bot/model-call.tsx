import type { JSX } from 'preact'
import type { Step } from '../api/types.ts'
import { formatMilliseconds } from '../format.ts'

/** The facts of a call of language models, and its question and answer where the bot keeps them. */
export function ModelCall({ call }: { call: NonNullable<Step['model']> }): JSX.Element {
  const { id, inputTokens, outputTokens, cost, isReplayed, firstTextMilliseconds, failure, prompt, answer } = call
  const facts = [
    id,
    `${inputTokens.toLocaleString('en')} + ${outputTokens.toLocaleString('en')} tokens`,
    ...(cost > 0 ? [formatDollars(cost)] : []),
    ...(firstTextMilliseconds === undefined ? [] : [`first text after ${formatMilliseconds(firstTextMilliseconds)}`]),
    ...(isReplayed ? ['recorded by an earlier run'] : []),
    ...(failure === undefined ? [] : [failure]),
  ]
  return (
    <div class="model-call">
      {facts.join(' · ')}
      {prompt !== undefined && (
        <details>
          <summary>Question and answer</summary>
          <pre tabIndex={0} aria-label="Question">
            {prompt}
          </pre>
          {answer && (
            <pre tabIndex={0} aria-label="Answer">
              {answer}
            </pre>
          )}
        </details>
      )}
    </div>
  )
}

/** A cost with as many digits as it needs: `$1.20`, `$0.00042`. */
export function formatDollars(cost: number): string {
  if (cost === 0 || cost >= 0.1) return `$${cost.toFixed(2)}`
  return `$${cost.toPrecision(2)}`
}
