import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { ask } from '../api/ask.ts'
import { formatDollars } from '../bot/model-call.tsx'
import { formatCount } from '../format.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { attempt } from '../state/notices.ts'
import { hasRole } from '../state/session.ts'

type BudgetState = AnswerOf<'getModelBudget'>
type Bound = keyof BudgetState['budget']

const bounds: { name: Bound; label: string }[] = [
  { name: 'dayTokens', label: 'Tokens of a day' },
  { name: 'dayDollars', label: 'Dollars of a day' },
  { name: 'monthTokens', label: 'Tokens of a month' },
  { name: 'monthDollars', label: 'Dollars of a month' },
]

/** The budget of a bot or of the workspace, and what is spent of it in the present day and month. */
export function Budget({
  state,
  botId,
  reload,
}: {
  state: BudgetState
  botId: string | undefined
  reload: () => void
}): JSX.Element {
  const [isOpen, setIsOpen] = useState(false)
  const { budget, spent } = state
  const rows = bounds.map(({ name, label }) => {
    const period = name.startsWith('day') ? spent.day : spent.month
    const isMoney = name.endsWith('Dollars')
    return { label, isMoney, used: isMoney ? period.cost : period.tokens, limit: budget[name] }
  })
  return (
    <section class="panel" aria-label="Budget">
      <header>
        <h2>Budget</h2>
        {hasRole('administrator') && (
          <button type="button" class="button small" onClick={() => setIsOpen(true)}>
            Change
          </button>
        )}
      </header>
      <ul class="plain lines">
        {rows.map(({ label, isMoney, used, limit }) => (
          <li key={label}>
            <span>{label}</span>
            <span class="number">
              {limit !== undefined && (
                <meter
                  min={0}
                  max={Math.max(limit, Number.MIN_VALUE)}
                  value={Math.min(used, limit)}
                  aria-label={`${label}: share of the budget`}
                />
              )}
              {isMoney ? formatDollars(used) : formatCount(used)}
            </span>
            <span class="number quiet">
              {limit === undefined ? 'no bound' : `of ${isMoney ? formatDollars(limit) : formatCount(limit)}`}
            </span>
          </li>
        ))}
      </ul>
      <p class="quiet">Days and months are those of UTC. Calls in flight count with what they may use.</p>
      {isOpen && <BudgetDialog budget={budget} botId={botId} reload={reload} onClose={() => setIsOpen(false)} />}
    </section>
  )
}

function BudgetDialog({
  budget,
  botId,
  reload,
  onClose,
}: {
  budget: BudgetState['budget']
  botId: string | undefined
  reload: () => void
  onClose: () => void
}): JSX.Element {
  const [given, setGiven] = useState(bounds.map(({ name }) => String(budget[name] ?? '')))
  const save = async () => {
    const chosen = bounds.flatMap(({ name }, index) => {
      const text = given[index]!.trim()
      return text === '' ? [] : [[name, Number(text)] as const]
    })
    const body = { ...(botId !== undefined && { botId }), budget: Object.fromEntries(chosen) }
    if (!(await attempt(() => ask('PUT', '/models/budget', { body }), 'The budget is changed.'))) return
    reload()
    onClose()
  }
  return (
    <FormDialog
      title={botId === undefined ? 'Budget of the workspace' : 'Budget of the bot'}
      action="Save"
      onSubmit={save}
      onClose={onClose}
    >
      {bounds.map(({ name, label }, index) => (
        <label key={name} class="field">
          {label}
          <input
            type="number"
            min={0}
            step={name.endsWith('Dollars') ? 'any' : 1}
            placeholder="no bound"
            value={given[index]}
            onInput={({ currentTarget: { value } }) => setGiven(given.map((text, at) => (at === index ? value : text)))}
          />
        </label>
      ))}
      <p class="quiet">A call of a language model is refused when one of them is used up.</p>
    </FormDialog>
  )
}
