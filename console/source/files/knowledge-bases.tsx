import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { KnowledgeBase } from '../api/types.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Icon } from '../parts/icons.tsx'
import { Loaded } from '../parts/loaded.tsx'
import type { Resource } from '../state/resource.ts'

interface KnowledgeBasesProps {
  botId: string
  bases: Resource<KnowledgeBase[]>
}

/** The bot's knowledge bases: names, to which files belong by their tags. */
export function KnowledgeBases({ botId, bases }: KnowledgeBasesProps): JSX.Element {
  const [isCreating, setIsCreating] = useState(false)
  const [deleted, setDeleted] = useState<KnowledgeBase | undefined>(undefined)
  const [name, setName] = useState('')
  const create = async () => {
    await ask<'createKnowledgeBase'>('POST', '/files/knowledge-bases', { botId, body: { name: name.trim() } })
    setName('')
    bases.reload()
  }
  const remove = async () => {
    await ask<'deleteKnowledgeBase'>('DELETE', `/files/knowledge-bases/${deleted!.id}`, { botId })
    bases.reload()
  }
  return (
    <section aria-labelledby="knowledge-bases">
      <div class="toolbar">
        <h2 id="knowledge-bases">Knowledge bases</h2>
        <span class="spacer" />
        <button type="button" class="button" onClick={() => setIsCreating(true)}>
          <Icon name="plus" />
          New knowledge base
        </button>
      </div>
      <Loaded of={bases} lines={1}>
        {(knowledgeBases) =>
          knowledgeBases.length === 0 ? (
            <p class="quiet">None yet. An upload may name one, and searches may be restricted to one.</p>
          ) : (
            <ul class="plain lines panel" aria-label="Knowledge bases">
              {knowledgeBases.map((base) => (
                <li key={base.id}>
                  <span dir="auto">{base.name}</span>
                  <code class="quiet">{base.id}</code>
                  <button
                    type="button"
                    class="button small"
                    aria-label={`Delete ${base.name}`}
                    onClick={() => setDeleted(base)}
                  >
                    Delete
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {isCreating && (
        <Confirm title="New knowledge base" action="Create" onSubmit={create} onClose={() => setIsCreating(false)}>
          <Field label="Name" autoFocus maxLength={200} value={name} onChange={setName} />
        </Confirm>
      )}
      {deleted && (
        <Confirm
          title={`Delete ${deleted.name}`}
          action="Delete"
          isDangerous
          onSubmit={remove}
          onClose={() => setDeleted(undefined)}
        >
          <p>Its files stay, with their tags.</p>
        </Confirm>
      )}
    </section>
  )
}
