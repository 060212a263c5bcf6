import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { KnowledgeBase } from '../api/types.ts'
import { plural } from '../format.ts'
import { Select } from '../parts/choice.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { upload } from './uploads.ts'

interface UploadDialogProps {
  botId: string
  /** The chosen files; one or more. */
  files: File[]
  knowledgeBases: KnowledgeBase[]
  /** The knowledge base that is selected at first; empty for none. */
  knowledgeBaseId: string
  onClose: () => void
  /** Called when an upload has ended. */
  onEnd: () => void
}

/** Asks for the properties of chosen files, and begins their uploads. */
export function UploadDialog(props: UploadDialogProps): JSX.Element {
  const { botId, files, knowledgeBases, knowledgeBaseId, onClose, onEnd } = props
  const [key, setKey] = useState(files[0]!.name)
  const [index, setIndex] = useState(true)
  const [isPublic, setIsPublic] = useState(false)
  const [base, setBase] = useState(knowledgeBaseId)
  const isOne = files.length === 1
  const begin = async () => {
    const tags = tagsOf(knowledgeBases.find(({ id }) => id === base))
    for (const content of files) {
      const file = { key: isOne ? key.trim() : content.name, content, index: index || base !== '', isPublic, tags }
      void upload(botId, file).then(onEnd)
    }
    onClose()
  }
  return (
    <FormDialog
      title={isOne ? 'Upload a file' : `Upload ${plural(files.length, 'file')}`}
      action="Upload"
      onSubmit={begin}
      onClose={onClose}
    >
      {isOne && <Field label="Key" autoFocus maxLength={1024} value={key} onChange={setKey} />}
      <p class="quiet">A file of the same key is replaced.</p>
      {knowledgeBases.length > 0 && (
        <div class="field">
          <span>Knowledge base</span>
          <Select
            label="Knowledge base"
            options={[
              { value: '', label: 'None' },
              ...knowledgeBases.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            value={base}
            onChange={setBase}
          />
        </div>
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={index || base !== ''}
          disabled={base !== ''}
          onChange={({ currentTarget }) => setIndex(currentTarget.checked)}
        />
        Searches find its text
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={isPublic}
          onChange={({ currentTarget }) => setIsPublic(currentTarget.checked)}
        />
        Public: everybody who has its address may read it
      </label>
    </FormDialog>
  )
}

/** The tags by which a file belongs to a knowledge base. */
function tagsOf(base: KnowledgeBase | undefined): Record<string, string> {
  return base ? { source: 'knowledge-base', kbId: base.id, kbName: base.name } : {}
}
