import { useEffect, useState } from 'preact/hooks'

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
