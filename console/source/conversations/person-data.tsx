import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { reach, refused } from '../api/ask.ts'
import { attempt } from '../state/notices.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { beginErasing } from './erase-dialog.tsx'

/** The rights of a user over personal data, which administrators carry out: an export, and an erasure. */
export function PersonData({ botId, userId }: { botId: string; userId: string }): JSX.Element {
  const [isExporting, setIsExporting] = useState(false)
  const exportUser = async () => {
    setIsExporting(true)
    await attempt(
      () => download(botId, userId),
      (rows) => `The export has ${rows} rows. Rows with "isFinding" may be about other people.`,
    )
    setIsExporting(false)
  }
  return (
    <p class="facts">
      <ActionButton kind="small" isInactive={isExporting} onClick={() => void exportUser()}>
        {isExporting ? 'Exporting …' : 'Export user'}
      </ActionButton>
      <button type="button" class="button small danger" onClick={() => beginErasing({ botId, userId })}>
        Erase user
      </button>
    </p>
  )
}

/** Saves what is stored about a user as a file. @returns the number of rows. @throws Error when the export is incomplete */
async function download(botId: string, userId: string): Promise<number> {
  const response = await reach('POST', '/users/export', { body: { botId, userId }, isReading: true })
  if (!response.ok) throw await refused(response)
  const content = await response.blob()
  const end = await content.slice(-200).text()
  const [, rows] = /\{"kind":"end","rows":(\d+)\}\n$/.exec(end) ?? []
  if (rows === undefined) throw new Error('The export is incomplete: try again.')
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = `${userId}.ndjson`
  link.click()
  // The browser reads the content after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  return Number(rows)
}
