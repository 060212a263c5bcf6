import { looks, monaco } from './monaco.ts'

/** Shows the difference of two texts, side by side where the width allows it. */
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
  })
  keepName(editor.getOriginalEditor(), 'Before')
  keepName(editor.getModifiedEditor(), 'After')
  editor.setModel({ original, modified })
  return {
    dispose() {
      editor.dispose()
      original.dispose()
      modified.dispose()
    },
  }
}

/** Names one side for screen readers after each change of options, because such a change removes the name. */
function keepName(side: monaco.editor.ICodeEditor, name: string): void {
  const setName = () => {
    if (side.getOption(monaco.editor.EditorOption.ariaLabel) !== name) side.updateOptions({ ariaLabel: name })
  }
  side.onDidChangeConfiguration(setName)
  setName()
}
