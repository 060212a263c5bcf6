import { looks, monaco } from './monaco.ts'

export interface Position {
  line: number
  column: number
}

export interface CodeEditor {
  read(): string
  write(code: string): void
  /** Marks the position of a refused upload's error until the code changes. */
  mark(position: Position, message: string): void
  goTo(position: Position): void
  dispose(): void
}

export interface EditorOptions {
  code: string
  /** The name of the model; its ending selects the language. Default: `bot.ts`. */
  file?: 'bot.ts' | 'flow.json'
  /** The name of the editor for screen readers. */
  label?: string
  isReadOnly: boolean
  onChange: (code: string) => void
  /** The action of Ctrl+S; it may change while the editor is open. */
  onDeploy: { current: () => Promise<void> }
}

const owner = 'upload'

/** Escape closes or ends each of these first. */
const usesOfEscape = [
  'suggestWidgetVisible',
  'findWidgetVisible',
  'renameInputVisible',
  'parameterHintsVisible',
  'markersNavigationVisible',
  'referenceSearchVisible',
  'editorHasSelection',
  'editorHasMultipleSelections',
  'inSnippetMode',
]

/** Tab indents, so that a person without a mouse leaves by Escape and Tab. Any other key lets Tab indent again. */
function leaveByEscape(editor: monaco.editor.IStandaloneCodeEditor): void {
  const setLeaving = (tabFocusMode: boolean) => editor.updateOptions({ tabFocusMode })
  const isFree = usesOfEscape.map((use) => `!${use}`).join(' && ')
  editor.addCommand(monaco.KeyCode.Escape, () => setLeaving(true), isFree)
  const { Escape, Tab, Shift } = monaco.KeyCode
  editor.onKeyDown(({ keyCode }) => {
    if (![Escape, Tab, Shift].includes(keyCode)) setLeaving(false)
  })
  editor.onDidBlurEditorText(() => setLeaving(false))
}

/** Opens an editor of a bot's code, with the types for authors, or of a flow, with its schema. Ctrl+S or Cmd+S deploys. */
export function openEditor(element: HTMLElement, options: EditorOptions): CodeEditor {
  const { code, file = 'bot.ts', label = 'Code of the bot', isReadOnly, onChange, onDeploy } = options
  const uri = monaco.Uri.parse(`file:///${file}`)
  monaco.editor.getModel(uri)?.dispose()
  const model = monaco.editor.createModel(code, undefined, uri)
  const editor = monaco.editor.create(element, {
    ...looks,
    model,
    readOnly: isReadOnly,
    ariaLabel: isReadOnly ? label : `${label}. Escape, then Tab leaves it`,
    // Names and values of JSON are strings.
    ...(file === 'flow.json' && { quickSuggestions: { strings: 'on', other: 'on', comments: 'off' } }),
  })
  editor.addCommand(monaco.KeyMod.CtrlCmd | monaco.KeyCode.KeyS, () => void onDeploy.current())
  leaveByEscape(editor)
  model.onDidChangeContent(() => {
    monaco.editor.setModelMarkers(model, owner, [])
    onChange(model.getValue())
  })
  return {
    read: () => model.getValue(),
    write: (next) => model.setValue(next),
    mark({ line, column }, message) {
      const word = model.getWordAtPosition({ lineNumber: line, column })
      const range = { startLineNumber: line, startColumn: column, endLineNumber: line }
      const endColumn = word?.endColumn ?? model.getLineMaxColumn(Math.min(line, model.getLineCount()))
      const severity = monaco.MarkerSeverity.Error
      monaco.editor.setModelMarkers(model, owner, [{ ...range, endColumn, message, severity }])
      this.goTo({ line, column })
    },
    goTo({ line, column }) {
      editor.revealLineInCenter(line)
      editor.setPosition({ lineNumber: line, column })
      editor.focus()
    },
    dispose() {
      editor.dispose()
      model.dispose()
    },
  }
}
