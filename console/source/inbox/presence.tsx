import type { JSX } from 'preact'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { Picture } from '../conversations/picture.tsx'
import { plural } from '../format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Status, type Tone } from '../parts/status.tsx'
import { attempt } from '../state/notices.ts'
import { useAnswer } from '../state/resource.ts'
import { membership } from '../state/session.ts'
import { useOnInboxLine } from './follow.ts'
import { heartbeatMilliseconds, useHeartbeat } from './heartbeat.ts'

/** Shows colleagues that the member’s inbox is open, and lets the member be away. */
export function PresenceSwitch(): JSX.Element {
  const { status, setAway } = useHeartbeat()
  const change = (away: boolean) =>
    attempt(() => setAway(away), away ? 'You are away: colleagues see it.' : 'You are online.')
  const isAway = status === 'away'
  return (
    <button
      type="button"
      class="button small presence"
      aria-label={isAway ? 'Away: be online' : 'Online: be away'}
      title={isAway ? 'Colleagues and bots see you as away' : 'Colleagues and bots see you as online'}
      disabled={status === undefined}
      onClick={() => void change(!isAway)}
    >
      <Status tone={status === undefined ? 'quiet' : tones[status]}>{isAway ? 'Away' : 'Online'}</Status>
    </button>
  )
}

const tones: Record<AnswerOf<'listPresence'>['members'][number]['status'], Tone> = {
  online: 'good',
  away: 'warn',
  offline: 'quiet',
}

/** The members who may answer, those who are online first. */
export function ColleaguesDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const presence = useAnswer<'listPresence'>('/presence', { every: heartbeatMilliseconds })
  useOnInboxLine(({ type }) => {
    if (type === 'presence') presence.reload()
  })
  return (
    <Dialog title="Colleagues" onClose={onClose}>
      <div class="dialog-text">
        <Loaded of={presence}>
          {({ members }) => (
            <ul class="colleagues">
              {members.map(({ id, name, pictureUrl, status, openHandovers }) => (
                <li key={id}>
                  <Picture name={name} url={pictureUrl} />
                  <span>
                    <strong dir="auto">{name}</strong>
                    {id === membership.value?.id && <span class="quiet"> (you)</span>}
                    <span class="quiet"> {plural(openHandovers, 'conversation')}</span>
                  </span>
                  <Status tone={tones[status]}>{status}</Status>
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      </div>
    </Dialog>
  )
}
