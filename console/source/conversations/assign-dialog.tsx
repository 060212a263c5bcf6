import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { Handover } from '../api/types.ts'
import { Select } from '../parts/choice.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { notify } from '../state/notices.ts'
import { useAnswer } from '../state/resource.ts'
import { membership } from '../state/session.ts'
import { explainHandover, hasChanged } from './handover.ts'

interface AssignDialogProps {
  botId: string
  handover: Handover
  onClose: () => void
}

/** Asks for the member who is to answer. */
export function AssignDialog({ botId, handover, onClose }: AssignDialogProps): JSX.Element {
  const presence = useAnswer<'listPresence'>('/presence')
  const [memberId, setMemberId] = useState(handover.member?.id ?? '')
  const assign = async () => {
    const body = { memberId: memberId === '' ? null : memberId }
    try {
      const answer = await ask<'assignHandover'>('PUT', `/bots/${botId}/handovers/${handover.id}/member`, { body })
      const { member } = answer.handover
      notify('good', member ? `${nameOf(member)} answers now.` : 'The conversation waits for a person.')
    } catch (error) {
      throw hasChanged(error) ? new Error(explainHandover(error)) : error
    }
  }
  return (
    <Confirm title="Assign the conversation" action="Assign" onSubmit={assign} onClose={onClose}>
      <Loaded of={presence} lines={1}>
        {({ members }) => (
          <div class="field">
            <span>Member who answers</span>
            <Select
              label="Member who answers"
              options={[
                { value: '', label: 'No member: it waits' },
                ...members.map(({ status, ...member }) => ({
                  value: member.id,
                  label: `${nameOf(member)}, ${status}`,
                })),
              ]}
              value={memberId}
              onChange={setMemberId}
            />
          </div>
        )}
      </Loaded>
      <p class="quiet">The member finds the conversation in the inbox, under Mine.</p>
    </Confirm>
  )
}

function nameOf({ id, name }: { id: string; name: string }): string {
  return id === membership.value?.id ? `${name} (you)` : name
}
