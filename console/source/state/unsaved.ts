import { useLayoutEffect } from 'preact/hooks'

/** Has the browser ask before it leaves the page, while something is unsaved. */
export function useUnsaved(isUnsaved: boolean): void {
  // Before the next event, which may be a reload.
  useLayoutEffect(() => {
    if (!isUnsaved) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isUnsaved])
}
