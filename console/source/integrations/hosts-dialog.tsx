import type { JSX } from 'preact'
import { ask } from '../api/ask.ts'
import { readHosts } from '../bot/hosts.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { notify } from '../state/notices.ts'
import { useResource } from '../state/resource.ts'
import { useTyped } from '../state/typed.ts'
import { loadDefinition, type Definition, type VersionKey } from './find-integrations.ts'

interface HostsDialogProps {
  integration: VersionKey
  onClose: () => void
}

/** The hosts that an integration's code may request, on all bots that have this version. */
export function HostsDialog({ integration, onClose }: HostsDialogProps): JSX.Element {
  const definition = useResource(`integration ${integration.id}`, (abort) => loadDefinition(integration, abort))
  return <Loaded of={definition}>{(definition) => <HostsForm definition={definition} onClose={onClose} />}</Loaded>
}

const hostsOf = ({ permissions }: Definition) => (permissions.net ?? []).join('\n')

function HostsForm({ definition, onClose }: { definition: Definition; onClose: () => void }): JSX.Element {
  const { id, name, version, permissions, isOwn } = definition
  const [hosts, setHosts] = useTyped(hostsOf(definition))
  const save = async () => {
    const net = readHosts(hosts)
    await ask('PUT', `/integrations/${id}`, { body: { permissions: { ...permissions, net } } })
    notify('good', `${name} ${version} may now request ${net.join(', ') || 'no hosts'}.`)
    onClose()
  }
  return (
    <FormDialog title={`Hosts of ${name}`} action="Save" isDisabled={!isOwn} onSubmit={save} onClose={onClose}>
      <label class="field">
        Hosts that its code may reach
        <textarea
          rows={Math.max(3, hosts.split('\n').length)}
          placeholder={'api.example.com\n*.example.org'}
          spellcheck={false}
          readOnly={!isOwn}
          value={hosts}
          onInput={({ currentTarget }) => setHosts(currentTarget.value)}
        />
      </label>
      <p class="quiet">
        {isOwn
          ? `One per line. They apply to version ${version} on all bots.`
          : 'The workspace that published the integration grants them.'}
      </p>
    </FormDialog>
  )
}
