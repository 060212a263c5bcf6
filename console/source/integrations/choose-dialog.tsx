import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { Empty, Loaded } from '../parts/loaded.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { useResource } from '../state/resource.ts'
import { listAvailable, type Available } from './find-integrations.ts'

interface ChooseDialogProps {
  /** Names of built-in integrations that the bot has: each is installed once. */
  installedBuiltIns: string[]
  onChoose: (integration: Available) => void
  onClose: () => void
}

/** The integrations that can be installed: those of the workspace, then the public and built-in ones. */
export function ChooseDialog({ installedBuiltIns, onChoose, onClose }: ChooseDialogProps): JSX.Element {
  const [search, setSearch] = useState('')
  const filter = search === '' ? {} : { search }
  const found = useResource(`available ${search}`, (abort) => listAvailable(filter, abort))
  return (
    <Dialog title="Install an integration" onClose={onClose}>
      <div class="dialog-text">
        <SearchField label="Search integrations" value={search} onChange={setSearch} />
        <Loaded of={found}>
          {({ versions, hasMore }) => {
            const listed = newestOf(versions).filter(({ name }) => !installedBuiltIns.includes(name))
            return (
              <>
                {listed.length === 0 && <Empty title={search === '' ? 'None yet' : 'Nothing has these words'} />}
                <ul class="plain available" aria-label="Integrations to install">
                  {listed.map((integration) => (
                    <li key={integration.id}>
                      <button type="button" class="button" onClick={() => onChoose(integration)}>
                        <strong>{integration.name}</strong>
                        <span class="quiet">
                          {integration.version} · {integration.owner}
                        </span>
                        <span>{integration.description || integration.title}</span>
                      </button>
                    </li>
                  ))}
                </ul>
                {hasMore && <p class="quiet">There are more: search for them.</p>}
              </>
            )
          }}
        </Loaded>
      </div>
    </Dialog>
  )
}

/** The first of each name and owner: lists have the newest version first. */
function newestOf(versions: Available[]): Available[] {
  const byName = new Map<string, Available>()
  for (const one of versions) {
    const key = `${one.owner} ${one.name}`
    if (!byName.has(key)) byName.set(key, one)
  }
  return [...byName.values()]
}
