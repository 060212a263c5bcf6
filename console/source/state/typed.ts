import { useEffect, useState } from 'preact/hooks'

/**
 * The text of a field: the stored one, also after it has changed, until a person types another. The typed one stays until it is stored.
 *
 * @returns the text, and a function that sets it
 */
export function useTyped(stored: string): [string, (text: string) => void] {
  const [typed, setTyped] = useState<string>()
  useEffect(() => {
    if (typed === stored) setTyped(undefined)
  }, [typed, stored])
  return [typed ?? stored, setTyped]
}
