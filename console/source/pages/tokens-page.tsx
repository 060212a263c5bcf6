import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { Token } from '../api/types.ts'
import { Confirm, FormDialog, NewToken } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { Time } from '../parts/time.tsx'
import { notify } from '../state/notices.ts'
import { useAnswer } from '../state/resource.ts'
import { Page } from './page.tsx'

/** The account's own tokens, for its programs and its command line. */
export function TokensPage(): JSX.Element {
  const [isCreating, setIsCreating] = useState(false)
  const tokens = useAnswer<'listPersonalAccessTokens'>('/account/pats')
  const [deleted, setDeleted] = useState<Token>()
  const remove = async ({ id, note }: Token) => {
    await ask('DELETE', `/account/pats/${id}`)
    notify('good', `“${note}” is no longer valid.`)
    tokens.reload()
  }
  return (
    <Page
      title="Tokens"
      about="Your personal tokens. Each has your rights, in all workspaces that you created or joined."
      actions={
        <button type="button" class="button primary" onClick={() => setIsCreating(true)}>
          <Icon name="plus" />
          New token
        </button>
      }
    >
      <Loaded of={tokens}>
        {({ pats }) =>
          pats.length === 0 ? (
            <Empty icon="key" title="No token yet">
              <p>Create one for each program that acts in your name, so that you can delete each separately.</p>
            </Empty>
          ) : (
            <ol class="plain lines panel" aria-label="Tokens">
              {pats.map((token) => (
                <li key={token.id}>
                  <strong dir="auto">{token.note || 'without a note'}</strong>
                  <span class="number quiet">
                    made <Time at={token.createdAt} />
                  </span>
                  <button
                    type="button"
                    class="button small"
                    aria-label={`Delete ${token.note}`}
                    onClick={() => setDeleted(token)}
                  >
                    Delete
                  </button>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
      {deleted && (
        <Confirm
          title={`Delete ${deleted.note || 'the token'}`}
          action="Delete"
          isDangerous
          onSubmit={() => remove(deleted)}
          onClose={() => setDeleted(undefined)}
        >
          <p>Programs and browsers that use it are refused from then on. Nothing brings it back.</p>
        </Confirm>
      )}
      {isCreating && (
        <CreateToken
          onClose={() => {
            setIsCreating(false)
            tokens.reload()
          }}
        />
      )}
    </Page>
  )
}

function CreateToken({ onClose }: { onClose: () => void }): JSX.Element {
  const [note, setNote] = useState('')
  const [value, setValue] = useState('')
  const create = async () => {
    const { pat } = await ask<'createPersonalAccessToken'>('POST', '/account/pats', { body: { note } })
    setValue(pat.value)
  }
  if (value) {
    return (
      <NewToken title="The new token" token={value} onClose={onClose}>
        Copy it now: it is shown only once.
      </NewToken>
    )
  }
  return (
    <FormDialog title="New token" action="Create" onSubmit={create} onClose={onClose}>
      <Field label="Purpose" autoFocus maxLength={200} value={note} onChange={setNote} />
    </FormDialog>
  )
}
