import { useEffect, useRef } from 'preact/hooks'

/** The files that a person pastes; none where the browser should insert a text. */
export function pastedFiles({ clipboardData }: ClipboardEvent): File[] {
  const { files = [], types = [] } = clipboardData ?? {}
  // Spreadsheets and word processors put a picture of the copied text beside it; a copied file has no HTML.
  const isText = types.includes('text/plain') && types.includes('text/html')
  return isText ? [] : [...files]
}

/**
 * Takes the files that a person drops anywhere on the page. Browsers would show them in place of the page.
 *
 * @param take undefined while there is no use for files
 */
export function useDroppedFiles(take: ((files: File[]) => void) | undefined): void {
  const latest = useRef(take)
  latest.current = take
  useEffect(() => {
    const receive = (event: DragEvent) => {
      const { dataTransfer } = event
      if (event.defaultPrevented || !dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      dataTransfer.dropEffect = latest.current ? 'copy' : 'none'
      if (event.type === 'drop' && dataTransfer.files.length > 0) latest.current?.([...dataTransfer.files])
    }
    const types = ['dragover', 'drop'] as const
    for (const type of types) document.addEventListener(type, receive)
    return () => {
      for (const type of types) document.removeEventListener(type, receive)
    }
  }, [])
}
