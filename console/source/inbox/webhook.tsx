import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { ask } from '../api/ask.ts'
import { plural } from '../format.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Field } from '../parts/field.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { attempt } from '../state/notices.ts'
import { useAnswer } from '../state/resource.ts'
import { useTyped } from '../state/typed.ts'

type Webhook = AnswerOf<'setInboxWebhook'>['webhook']

const path = '/inbox-webhook'

/** The address that is told of the handovers of the workspace. For administrators. */
export function WebhookSetting(): JSX.Element {
  const found = useAnswer<'getInboxWebhook'>(path, { every: 5000 })
  return (
    <section class="webhook" aria-label="Webhook">
      <h3>Webhook of the workspace</h3>
      <p class="quiet">
        A POST request tells it of each handover and of each message of a user, also while no inbox is open.
      </p>
      <Loaded of={found} lines={3}>
        {({ webhook }) => <Form webhook={webhook} onChange={found.reload} />}
      </Loaded>
    </section>
  )
}

function Form({ webhook, onChange }: { webhook: Webhook | undefined; onChange: () => void }): JSX.Element {
  const [url, setUrl] = useTyped(webhook?.url ?? '')
  const [secret, setSecret] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const act = async (action: () => Promise<unknown>, stored: string, done: string) => {
    setIsBusy(true)
    if (await attempt(action, done)) {
      setUrl(stored)
      setSecret('')
    }
    setIsBusy(false)
    onChange()
  }
  const save = (event: Event) => {
    event.preventDefault()
    const body = { url: url.trim(), ...(secret !== '' && { secret }) }
    void act(() => ask('PUT', path, { body }), body.url, 'The webhook is set.')
  }
  const remove = () => void act(() => ask('DELETE', path), '', 'The webhook is removed.')
  return (
    <form onSubmit={save}>
      <Field
        label="URL"
        pattern="https?://.+"
        title="an address with http or https"
        placeholder="https://hooks.example.com/inbox"
        autocomplete="off"
        spellcheck={false}
        value={url}
        onChange={setUrl}
      />
      <label class="field">
        Secret, optional
        <input
          type="password"
          autocomplete="off"
          maxLength={2000}
          value={secret}
          onInput={({ currentTarget }) => setSecret(currentTarget.value)}
        />
      </label>
      <p class="quiet">
        It is sent as the header x-secret-key.{' '}
        {webhook?.hasSecret && 'There is one: give it again to keep it when you save.'}
      </p>
      {webhook && webhook.waiting > 0 && (
        <p role="status">
          {plural(webhook.waiting, 'change')} to send
          {webhook.failures > 0 && `: the receiver has not accepted the next one ${plural(webhook.failures, 'time')}`}.
        </p>
      )}
      <div class="actions">
        {webhook && (
          <ActionButton kind="small danger" isInactive={isBusy} onClick={remove}>
            Remove
          </ActionButton>
        )}
        <ActionButton type="submit" kind="small primary" isInactive={isBusy}>
          {webhook ? 'Save' : 'Set'}
        </ActionButton>
      </div>
    </form>
  )
}
