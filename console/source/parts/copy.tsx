import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { notify } from '../state/notices.ts'
import { Icon } from './icons.tsx'

/** A text that a click copies. */
export function Copy({ text, shown = text, label }: { text: string; shown?: string; label: string }): JSX.Element {
  const [isCopied, setIsCopied] = useState(false)
  const copy = async () => {
    // Browsers allow copying only over https and on localhost, and not everywhere; a notice then shows the text for selection.
    if (!isSecureContext) return notify('good', text)
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      return notify('good', text)
    }
    setIsCopied(true)
    setTimeout(() => setIsCopied(false), 1500)
  }
  return (
    <button type="button" class="copy" title={`${label}: ${text}`} onClick={copy}>
      <span class="visually-hidden">Copy {label}</span>
      <code>{shown}</code>
      <Icon name={isCopied ? 'check' : 'copy'} />
    </button>
  )
}
