import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { Member } from '../api/types.ts'
import { Select } from '../parts/choice.tsx'
import { FormDialog, NewToken } from '../parts/dialog.tsx'
import { Icon } from '../parts/icons.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Time } from '../parts/time.tsx'
import { attempt } from '../state/notices.ts'
import { useResource } from '../state/resource.ts'
import { hasRole, membership } from '../state/session.ts'
import { Page } from './page.tsx'

const roles = [
  { value: 'viewer', label: 'Viewer' },
  { value: 'developer', label: 'Developer' },
  { value: 'administrator', label: 'Administrator' },
  { value: 'owner', label: 'Owner' },
] as const
type Role = (typeof roles)[number]['value']

/** Who is in the workspace, and what each may do. */
export function MembersPage(): JSX.Element {
  const [isAdding, setIsAdding] = useState(false)
  const members = useResource('members', (abort) =>
    ask<{ members: Member[] }>('GET', '/workspace-members', { query: { pageSize: 100 }, abort }),
  )
  const mayChange = hasRole('administrator')
  const change = async (request: Promise<unknown>, done: string) => {
    await attempt(() => request, done)
    members.reload()
  }
  return (
    <Page
      title="Members"
      about="A viewer looks; a developer changes bots; an administrator adds members and sees secrets; an owner adds owners."
      actions={
        mayChange && (
          <button type="button" class="button primary" onClick={() => setIsAdding(true)}>
            <Icon name="plus" />
            Add a member
          </button>
        )
      }
    >
      <Loaded of={members}>
        {({ members }) => (
          <ol class="plain lines panel" aria-label="Members">
            {members.map((member) => (
              <li key={member.id}>
                <span>
                  <strong>{member.displayName}</strong> <span class="quiet">{member.email}</span>
                  {member.id === membership.value?.id && <span class="chip">you</span>}
                </span>
                <span class="number quiet">
                  since <Time at={member.createdAt} />
                </span>
                {mayChange && member.id !== membership.value?.id ? (
                  <span class="actions">
                    <Select
                      label={`Role of ${member.displayName}`}
                      options={roles}
                      value={member.role}
                      onChange={(role) =>
                        void change(
                          ask('PUT', `/workspace-members/${member.id}`, { body: { role } }),
                          `${member.displayName} is ${role} now.`,
                        )
                      }
                    />
                    <button
                      type="button"
                      class="button small"
                      aria-label={`Remove ${member.displayName}`}
                      onClick={() =>
                        void change(
                          ask('DELETE', `/workspace-members/${member.id}`),
                          `${member.displayName} is no member any more.`,
                        )
                      }
                    >
                      Remove
                    </button>
                  </span>
                ) : (
                  <span>{member.role}</span>
                )}
              </li>
            ))}
          </ol>
        )}
      </Loaded>
      {isAdding && (
        <AddMember
          onClose={() => {
            setIsAdding(false)
            members.reload()
          }}
        />
      )}
    </Page>
  )
}

function AddMember({ onClose }: { onClose: () => void }): JSX.Element {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('developer')
  const [token, setToken] = useState('')
  const add = async () => {
    const body = { email: email.trim(), role }
    const added = await ask<Member & { token?: string }>('POST', '/workspace-members', { body })
    if (added.token === undefined) onClose()
    else setToken(added.token)
  }
  if (token) {
    return (
      <NewToken title={`${email} is a member`} token={token} onClose={onClose}>
        The account is new. Pass on its first token, by which its owner signs in: it is shown this once.
      </NewToken>
    )
  }
  return (
    <FormDialog title="Add a member" action="Add" onSubmit={add} onClose={onClose}>
      <label class="field">
        Email address
        <input
          type="email"
          required
          autoFocus
          value={email}
          onInput={({ currentTarget }) => setEmail(currentTarget.value)}
        />
      </label>
      <div class="field">
        Role
        <Select label="Role" options={roles} value={role} onChange={setRole} />
      </div>
    </FormDialog>
  )
}
