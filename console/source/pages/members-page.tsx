import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask, explain } from '../api/ask.ts'
import type { Invited, Member } from '../api/types.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { Select } from '../parts/choice.tsx'
import { Confirm, FormDialog, NewToken } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/icons.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Time } from '../parts/time.tsx'
import { attempt, notify } from '../state/notices.ts'
import { hasRole, membership } from '../state/session.ts'
import { Page } from './page.tsx'
import { useMembers } from './use-members.ts'

const roles = [
  { value: 'agent', label: 'Agent' },
  { value: 'viewer', label: 'Viewer' },
  { value: 'developer', label: 'Developer' },
  { value: 'administrator', label: 'Administrator' },
  { value: 'owner', label: 'Owner' },
] as const
type Role = (typeof roles)[number]['value']

/** The members of the workspace with their roles. */
export function MembersPage(): JSX.Element {
  const [isInviting, setIsInviting] = useState(false)
  const [invited, setInvited] = useState<Invited>()
  const members = useMembers()
  const { reload } = members
  const mayChange = hasRole('administrator')
  const showInvitation = (member: Invited) => {
    setIsInviting(false)
    setInvited(member)
    members.reload()
  }
  return (
    <Page
      title="Members"
      about="An agent answers in conversations that are handed over; a viewer reads; a developer changes bots; an administrator invites members and reads secrets; an owner invites owners."
      actions={
        mayChange && (
          <button type="button" class="button primary" onClick={() => setIsInviting(true)}>
            <Icon name="plus" />
            Invite a member
          </button>
        )
      }
    >
      <Loaded of={members}>
        {(members) => (
          <ol class="plain lines panel" aria-label="Members">
            {members.map((member) => (
              <li key={member.id}>
                <span>
                  <strong dir="auto">{member.displayName}</strong> <span class="quiet">{member.email}</span>
                  {member.id === membership.value?.id && <span class="chip">you</span>}
                  {member.status === 'invited' && (
                    <Pending member={member} {...(mayChange && { onInvited: showInvitation })} />
                  )}
                </span>
                <span class="number quiet">
                  since <Time at={member.createdAt} />
                </span>
                {mayChange && member.id !== membership.value?.id ? (
                  <MemberActions member={member} onChange={reload} />
                ) : (
                  <span>{member.role}</span>
                )}
              </li>
            ))}
          </ol>
        )}
      </Loaded>
      {isInviting && <InviteMember onInvited={showInvitation} onClose={() => setIsInviting(false)} />}
      {invited && (
        <NewToken
          title={`${invited.email} is invited`}
          token={invited.invitationUrl}
          label="invitation"
          onClose={() => setInvited(undefined)}
        >
          Send this link to the invited person: the platform sends no mail, and the link is shown only once. It is valid
          for seven days and for one account, existing or new, which becomes this member.
        </NewToken>
      )}
    </Page>
  )
}

/** Changes the role of a member, and removes the member. */
function MemberActions({ member, onChange }: { member: Member; onChange: () => void }): JSX.Element {
  const { id, displayName } = member
  /** A choice is stored by the button: by keyboard, one goes through all roles between two. */
  const [role, setRole] = useState(member.role)
  const [isRemoving, setIsRemoving] = useState(false)
  const path = `/workspace-members/${id}`
  const save = async () => {
    const isDone = await attempt(() => ask('PUT', path, { body: { role } }), `${displayName} now has the role ${role}.`)
    if (!isDone) setRole(member.role)
    onChange()
  }
  const remove = async () => {
    await ask('DELETE', path)
    notify('good', `${displayName} is no longer a member.`)
    onChange()
  }
  useEffect(() => setRole(member.role), [member.role])
  return (
    <span class="actions">
      <Select label={`Role of ${displayName}`} options={roles} value={role} onChange={setRole} />
      <ActionButton
        kind="small"
        label={`Save ${displayName}’s role`}
        isInactive={role === member.role}
        onClick={() => void save()}
      >
        Save
      </ActionButton>
      <button
        type="button"
        class="button small"
        aria-label={`Remove ${displayName}`}
        onClick={() => setIsRemoving(true)}
      >
        Remove
      </button>
      {isRemoving && (
        <Confirm
          title={`Remove ${displayName}`}
          action="Remove"
          isDangerous
          onSubmit={remove}
          onClose={() => setIsRemoving(false)}
        >
          <p>The member loses access to this workspace at once. Another invitation gives it back.</p>
        </Confirm>
      )}
    </span>
  )
}

function InviteMember({
  onInvited,
  onClose,
}: {
  onInvited: (member: Invited) => void
  onClose: () => void
}): JSX.Element {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('developer')
  const invite = async () => onInvited(await requestInvitation(email.trim(), role))
  return (
    <FormDialog title="Invite a member" action="Invite" onSubmit={invite} onClose={onClose}>
      <Field label="Email address" type="email" autoFocus value={email} onChange={setEmail} />
      <div class="field">
        Role
        <Select label="Role" options={roles} value={role} onChange={setRole} />
      </div>
    </FormDialog>
  )
}

function requestInvitation(email: string, role: string): Promise<Invited> {
  return ask<'createWorkspaceMember'>('POST', '/workspace-members', { body: { email, role } })
}

/** The expiry of a member's invitation, with a button for a new one after it. */
function Pending({ member, onInvited }: { member: Member; onInvited?: (member: Invited) => void }): JSX.Element {
  const { email, role, invitationExpiresAt: expiresAt } = member
  const isOpen = expiresAt !== undefined && Date.parse(expiresAt) > Date.now()
  const renew = async () => {
    try {
      onInvited?.(await requestInvitation(email, role))
    } catch (error) {
      notify('bad', explain(error))
    }
  }
  return (
    <>
      <span class="chip">
        {isOpen ? (
          <>
            invited, ends <Time at={expiresAt} />
          </>
        ) : (
          'needs a new invitation'
        )}
      </span>
      {onInvited && (
        <button type="button" class="button small" aria-label={`New invitation for ${email}`} onClick={renew}>
          New invitation
        </button>
      )}
    </>
  )
}
