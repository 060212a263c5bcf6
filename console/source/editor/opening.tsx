import type { JSX } from 'preact'
import { Refusal, Skeleton } from '../parts/loaded.tsx'
import type { EditorOfPage } from './use-editor.ts'

/** In place of an editor: that it is loading, or why it cannot be loaded. */
export function Opening({ of: { isReady, error, reload } }: { of: EditorOfPage }): JSX.Element | null {
  if (isReady) return null
  return error === undefined ? <Skeleton lines={12} /> : <Refusal error={error} reload={reload} />
}
