import { looks, monaco } from './monaco.ts'

/** Shows in what a text differs from another one, side by side where there is room. */
export function openDifference(element: HTMLElement, before: string, after: string): { dispose(): void } {
  const original = monaco.editor.createModel(before, 'typescript')
  const modified = monaco.editor.createModel(after, 'typescript')
  const editor = monaco.editor.createDiffEditor(element, {
    ...looks,
    readOnly: true,
    originalEditable: false,
    useInlineViewWhenSpaceIsLimited: true,
    hideUnchangedRegions: { enabled: true },
    renderOverviewRuler: false,
    originalAriaLabel: 'Before',
    modifiedAriaLabel: 'After',
  })
  editor.setModel({ original, modified })
  return {
    dispose() {
      editor.dispose()
      original.dispose()
      modified.dispose()
    },
  }
}
