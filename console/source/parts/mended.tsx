import type { ComponentChildren, JSX } from 'preact'
import { useErrorBoundary } from 'preact/hooks'
import { Refusal } from './loaded.tsx'

/** An error boundary: shows the error of a failed part with a retry; the rest of the page stays. */
export function Mended({ children }: { children: ComponentChildren }): JSX.Element {
  const [error, reset] = useErrorBoundary()
  return error === undefined ? <>{children}</> : <Refusal error={error} reload={reset} />
}
