import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { HandoverNote } from '../api/types.ts'
import { formatAbsolute, formatMoment } from '../format.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Icon } from '../parts/icons.tsx'
import { hasRole, membership } from '../state/session.ts'

interface NoteProps {
  botId: string
  handoverId: string
  note: HandoverNote
  onDeleted: () => void
}

/** A note between the messages. Its author and administrators delete it. */
export function Note({ botId, handoverId, note, onDeleted }: NoteProps): JSX.Element {
  const [isDeleting, setIsDeleting] = useState(false)
  const { id, author, createdAt, text } = note
  const isOwn = author.id !== undefined && author.id === membership.value?.id
  const remove = async () => {
    await ask('DELETE', `/bots/${botId}/handovers/${handoverId}/notes/${id}`)
    onDeleted()
  }
  return (
    <li class="note" id={id}>
      <p class="author">
        <Icon name="note" />
        <strong dir="auto">{author.name || 'A former member'}</strong>
        <span class="quiet">note, for members only</span>
        <time class="quiet" dateTime={createdAt} title={formatAbsolute(createdAt)}>
          {formatMoment(createdAt)}
        </time>
        {(isOwn || hasRole('administrator')) && (
          <button
            type="button"
            class="button icon-only"
            aria-label={`Delete the note of ${formatMoment(createdAt)}`}
            title="Delete the note"
            onClick={() => setIsDeleting(true)}
          >
            <Icon name="trash" />
          </button>
        )}
      </p>
      <p dir="auto">{text}</p>
      {isDeleting && (
        <Confirm
          title="Delete the note"
          action="Delete"
          isDangerous
          onSubmit={remove}
          onClose={() => setIsDeleting(false)}
        >
          <p>No member will see it any more.</p>
        </Confirm>
      )}
    </li>
  )
}
