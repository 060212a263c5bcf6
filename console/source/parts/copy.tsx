import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { notify } from '../state/notices.ts'
import { Icon } from './icons.tsx'

/** A text that is copied by a click. */
export function Copy({ text, shown = text, label }: { text: string; shown?: string; label: string }): JSX.Element {
  const [isCopied, setIsCopied] = useState(false)
  const copy = async () => {
    // Browsers copy over https only, and from this machine: elsewhere the text is shown where it can be selected.
    if (!isSecureContext) return notify('good', text)
    await navigator.clipboard.writeText(text)
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
