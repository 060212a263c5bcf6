import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { CannedReply } from '../api/types.ts'
import { findReplies, loadCannedReplies } from '../conversations/canned-replies.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { notify } from '../state/notices.ts'
import { useResource } from '../state/resource.ts'
import { query, setQuery, to } from '../state/route.ts'
import { Page } from '../pages/page.tsx'

type Open = { action: 'create' } | { action: 'edit' | 'delete'; reply: CannedReply }

/** The texts that the members of the workspace answer with repeatedly. */
export function CannedRepliesPage(): JSX.Element {
  const [open, setOpen] = useState<Open>()
  const replies = useResource('canned replies', loadCannedReplies)
  const search = query.value.get('text') ?? ''
  const close = () => {
    setOpen(undefined)
    replies.reload()
  }
  return (
    <Page
      title="Canned replies"
      about="Texts that all members of the workspace answer with. A slash in a reply lists them."
      actions={
        <>
          <a class="button" href={to('inbox')}>
            <Icon name="back" />
            Inbox
          </a>
          <button type="button" class="button primary" onClick={() => setOpen({ action: 'create' })}>
            <Icon name="plus" />
            New canned reply
          </button>
        </>
      }
    >
      <Loaded of={replies}>
        {(replies) =>
          replies.length === 0 ? (
            <Empty icon="chat" title="No canned reply yet">
              <p>Create one for each answer that you write again and again.</p>
            </Empty>
          ) : (
            <>
              <div class="toolbar">
                <SearchField label="Search canned replies" value={search} onChange={(text) => setQuery({ text })} />
              </div>
              <ReplyList replies={findReplies(replies, search)} onOpen={setOpen} />
            </>
          )
        }
      </Loaded>
      {open?.action === 'delete' && <DeleteReply reply={open.reply} onClose={close} />}
      {open?.action === 'create' && <ReplyForm onClose={close} />}
      {open?.action === 'edit' && <ReplyForm reply={open.reply} onClose={close} />}
    </Page>
  )
}

function ReplyList({ replies, onOpen }: { replies: CannedReply[]; onOpen: (open: Open) => void }): JSX.Element {
  if (replies.length === 0) return <Empty icon="search" title="No canned reply matches" />
  return (
    <ol class="plain lines panel canned-replies" aria-label="Canned replies">
      {replies.map((reply) => (
        <li key={reply.id}>
          <div>
            <code>/{reply.shortcut}</code>
            <p dir="auto">{reply.text}</p>
          </div>
          <span class="actions">
            {(['edit', 'delete'] as const).map((action) => (
              <button
                key={action}
                type="button"
                class="button small"
                aria-label={`${action === 'edit' ? 'Edit' : 'Delete'} /${reply.shortcut}`}
                onClick={() => onOpen({ action, reply })}
              >
                {action === 'edit' ? 'Edit' : 'Delete'}
              </button>
            ))}
          </span>
        </li>
      ))}
    </ol>
  )
}

function ReplyForm({ reply, onClose }: { reply?: CannedReply; onClose: () => void }): JSX.Element {
  const [shortcut, setShortcut] = useState(reply?.shortcut ?? '')
  const [text, setText] = useState(reply?.text ?? '')
  const save = async () => {
    const body = { shortcut, text }
    if (reply) await ask<'updateCannedReply'>('PUT', `/canned-replies/${reply.id}`, { body })
    else await ask<'createCannedReply'>('POST', '/canned-replies', { body })
    notify('good', `/${shortcut} is saved.`)
  }
  return (
    <Confirm
      title={reply ? `Edit /${reply.shortcut}` : 'New canned reply'}
      action={reply ? 'Save' : 'Create'}
      onSubmit={save}
      onClose={onClose}
    >
      <Field
        label="Shortcut"
        autoFocus
        autocomplete="off"
        spellcheck={false}
        maxLength={50}
        pattern="[a-z0-9][a-z0-9_\-]*"
        title="Lower-case letters, digits, - and _"
        value={shortcut}
        onChange={(value) => setShortcut(value.replace(/^\//, '').toLowerCase())}
      />
      <label class="field">
        Text
        <textarea
          class="prose"
          required
          rows={5}
          maxLength={4000}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <p class="quiet">
        A member writes <code>/{shortcut || 'shortcut'}</code> in a reply, and sends the text as it is or changes it.
      </p>
    </Confirm>
  )
}

function DeleteReply({ reply, onClose }: { reply: CannedReply; onClose: () => void }): JSX.Element {
  const remove = () => ask<'deleteCannedReply'>('DELETE', `/canned-replies/${reply.id}`)
  return (
    <Confirm title={`Delete /${reply.shortcut}`} action="Delete" isDangerous onSubmit={remove} onClose={onClose}>
      <p>All members of the workspace lose it. Messages that were sent with it stay.</p>
    </Confirm>
  )
}
