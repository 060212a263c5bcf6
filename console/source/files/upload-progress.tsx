import type { JSX } from 'preact'
import { uploads } from './uploads.ts'

/** The uploads that have not ended. */
export function UploadProgress({ botId }: { botId: string }): JSX.Element | null {
  const own = uploads.value.filter((one) => one.botId === botId)
  if (own.length === 0) return null
  return (
    <ul class="plain lines panel" aria-label="Uploads">
      {own.map(({ id, key, progress, cancel }) => (
        <li key={id}>
          <span>{key}</span>
          <progress value={progress} max={1} aria-label={`Upload of ${key}`} />
          <button type="button" class="button small" aria-label={`Cancel ${key}`} onClick={cancel}>
            Cancel
          </button>
        </li>
      ))}
    </ul>
  )
}
