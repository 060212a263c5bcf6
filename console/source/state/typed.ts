import { useEffect, useState } from 'preact/hooks'
import { Drafts } from './drafts.ts'
import { useUnsaved } from './unsaved.ts'

/**
 * The text of a field: the stored one, also after it has changed, until a person types another. The typed one stays until it is stored.
 *
 * @param first a text that was typed before, if there is one
 * @returns the text, and a function that sets it
 */
export function useTyped(stored: string, first?: string): [string, (text: string) => void] {
  const [typed, setTyped] = useState(first)
  useEffect(() => {
    if (typed === stored) setTyped(undefined)
  }, [typed, stored])
  return [typed ?? stored, setTyped]
}

const drafts = new Drafts<string>()

/** As `useTyped`, of a text that outlives the page of its field; the browser asks before it loses it. */
export function useKept(key: string, stored: string): [string, (text: string) => void] {
  const [text, setText] = useTyped(stored, drafts.get(key))
  const isUnsaved = text !== stored
  useUnsaved(isUnsaved)
  useEffect(() => {
    if (isUnsaved) drafts.set(key, text)
    else drafts.delete(key)
  }, [key, isUnsaved, text])
  return [text, setText]
}
