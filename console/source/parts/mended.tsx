import type { ComponentChildren, JSX } from 'preact'
import { useErrorBoundary } from 'preact/hooks'
import { Refusal } from './loaded.tsx'

/** What a mistake of our own leaves of a page: its words, and a way on. What stands around it is not touched. */
export function Mended({ children }: { children: ComponentChildren }): JSX.Element {
  const [error, reset] = useErrorBoundary()
  return error === undefined ? <>{children}</> : <Refusal error={error} reload={reset} />
}
