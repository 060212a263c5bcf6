import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { Handover } from '../api/types.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { hasNoFocus } from '../parts/has-no-focus.ts'
import { Status } from '../parts/status.tsx'
import { Time } from '../parts/time.tsx'
import { notify } from '../state/notices.ts'
import { AssignDialog } from './assign-dialog.tsx'
import { explainHandover, isMine } from './handover.ts'

interface HandoverBarProps {
  botId: string
  conversationId: string
  /** The handover in progress; undefined while the bot answers. */
  handover: Handover | undefined
  /** Called after each action. */
  onChange: () => void
}

/** The participant of a conversation that answers, bot or member, and the buttons that change it. */
export function HandoverBar({ botId, conversationId, handover, onChange }: HandoverBarProps): JSX.Element {
  const [isBusy, setIsBusy] = useState(false)
  const [isAssigning, setIsAssigning] = useState(false)
  const bar = useRef<HTMLDivElement>(null)
  // The button that had the focus may be gone with the state that it changed. Before the next key, which the conversation must get.
  useLayoutEffect(() => {
    if (hasNoFocus()) bar.current?.focus()
  }, [handover?.status])
  const act = async (action: () => Promise<unknown>) => {
    setIsBusy(true)
    try {
      await action()
    } catch (error) {
      notify('bad', explainHandover(error))
    }
    setIsBusy(false)
    onChange()
  }
  const takeOver = () =>
    ask('POST', `/bots/${botId}/conversations/${encodeURIComponent(conversationId)}/handover`, { body: {} })
  const handBack = () => ask('POST', `/bots/${botId}/handovers/${handover!.id}/resolve`, { body: {} })
  return (
    <div class="handover" ref={bar} tabIndex={-1}>
      <div class="handover-text">
        <p role="status">
          <State handover={handover} />
        </p>
        {handover && <Facts handover={handover} />}
      </div>
      <div class="actions">
        {!handover?.member && (
          <ActionButton kind="small primary" keyShortcut="t" isInactive={isBusy} onClick={() => void act(takeOver)}>
            Take over
          </ActionButton>
        )}
        {handover && (
          <>
            <button type="button" class="button small" aria-keyshortcuts="a" onClick={() => setIsAssigning(true)}>
              Assign
            </button>
            <ActionButton kind="small" keyShortcut="e" isInactive={isBusy} onClick={() => void act(handBack)}>
              Hand back
            </ActionButton>
          </>
        )}
      </div>
      {isAssigning && handover && (
        <AssignDialog
          botId={botId}
          handover={handover}
          onClose={() => {
            setIsAssigning(false)
            onChange()
          }}
        />
      )}
    </div>
  )
}

function State({ handover }: { handover: Handover | undefined }): JSX.Element {
  if (!handover) return <Status tone="quiet">The bot answers</Status>
  if (!handover.member) return <Status tone="warn">Waiting for a person</Status>
  return <Status tone="good">{isMine(handover) ? 'You answer' : `${handover.member.name} answers`}</Status>
}

function Facts({ handover }: { handover: Handover }): JSX.Element {
  const { title, description, requestedBy, createdAt, assignedAt, expiresAt, member } = handover
  return (
    <>
      {title && <strong dir="auto">{title}</strong>}
      {description && (
        <p class="description" dir="auto" tabIndex={0}>
          {description}
        </p>
      )}
      <p class="facts quiet">
        <span>
          {requestedBy === 'member' ? 'A member began' : 'The bot asked'} <Time at={createdAt} />
        </span>
        {member && assignedAt && (
          <span>
            assigned <Time at={assignedAt} />
          </span>
        )}
        {expiresAt && (
          <span>
            the bot goes on <Time at={expiresAt} />
          </span>
        )}
      </p>
    </>
  )
}
