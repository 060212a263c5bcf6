import * as monaco from 'monaco-editor/editor.js'
import 'monaco-editor/languages/definitions/typescript/register.js'
import 'monaco-editor/features/register.all.js'
import * as json from 'monaco-editor/languages/features/json/register.js'
import * as typescript from 'monaco-editor/languages/features/typescript/register.js'
import EditorWorker from 'monaco-editor/editor/editor.worker.js?worker'
import JsonWorker from 'monaco-editor/languages/features/json/json.worker.js?worker'
import TypeScriptWorker from 'monaco-editor/languages/features/typescript/ts.worker.js?worker'
import flowSchema from '../../../bot/flow.schema.json'
import authorTypes from '../../../bot/index.d.ts?raw'
import { isDark } from '../state/theme.ts'
import { effect } from '@preact/signals'

globalThis.MonacoEnvironment = {
  getWorker(_module, label) {
    if (label === 'typescript') return new TypeScriptWorker()
    return label === 'json' ? new JsonWorker() : new EditorWorker()
  },
}

const { typescriptDefaults, ScriptTarget, ModuleKind, ModuleResolutionKind } = typescript
typescriptDefaults.setCompilerOptions({
  target: ScriptTarget.ESNext,
  module: ModuleKind.ESNext,
  moduleResolution: ModuleResolutionKind.NodeJs,
  // The types for authors declare the APIs of isolates; DOM and Node types do not apply.
  lib: ['es2024'],
  allowNonTsExtensions: true,
  strict: true,
  // Code without type annotations is valid.
  noImplicitAny: false,
  noEmit: true,
  types: [],
})
typescriptDefaults.addExtraLib(authorTypes, 'file:///node_modules/isobot/bot/index.d.ts')

json.jsonDefaults.setDiagnosticsOptions({
  validate: true,
  allowComments: false,
  schemas: [{ uri: 'isobot:flow.schema.json', fileMatch: ['flow.json'], schema: flowSchema }],
})

monaco.editor.defineTheme('isobot-light', {
  base: 'vs',
  inherit: true,
  // Shades of green and blue that have enough contrast on the red of removed lines.
  rules: [
    { token: 'comment', foreground: '005f00' },
    { token: 'number', foreground: '076045' },
  ],
  colors: {
    'editor.background': '#ffffff',
    'editorLineNumber.foreground': '#66736d',
    'editorBracketHighlight.foreground2': '#1e7a1e',
    // Pale enough for the contrast of the text on it.
    'diffEditor.removedLineBackground': '#ff00001c',
    'diffEditor.removedTextBackground': '#ff00001c',
    'editor.lineHighlightBackground': '#f4f7f5',
    'editor.lineHighlightBorder': '#00000000',
  },
})
monaco.editor.defineTheme('isobot-dark', {
  base: 'vs-dark',
  inherit: true,
  rules: [],
  colors: {
    'editor.background': '#141a18',
    'editorLineNumber.foreground': '#8b9993',
    // Pale enough for the contrast of the text on it.
    'diffEditor.insertedLineBackground': '#9bb9551a',
    'diffEditor.insertedTextBackground': '#9ccc2c0d',
    'diffEditor.removedTextBackground': '#ff000026',
    'editor.lineHighlightBackground': '#1a2220',
    'editor.lineHighlightBorder': '#00000000',
  },
})
effect(() => monaco.editor.setTheme(isDark.value ? 'isobot-dark' : 'isobot-light'))

/** The appearance of all editors of the console. */
export const looks = {
  automaticLayout: true,
  fontSize: 13,
  lineHeight: 20,
  minimap: { enabled: false },
  scrollBeyondLastLine: false,
  renderLineHighlight: 'line',
  overviewRulerLanes: 0,
  // `#123` in a text is rarely a colour.
  colorDecorators: false,
  stickyScroll: { enabled: false },
  renderFinalNewline: 'on',
  padding: { top: 12, bottom: 12 },
  fixedOverflowWidgets: true,
  scrollbar: { alwaysConsumeMouseWheel: false },
} as const satisfies monaco.editor.IEditorOptions & { automaticLayout: boolean }

export { monaco }
