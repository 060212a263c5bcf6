import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CodeEditor, EditorOptions } from './open-editor.ts'

interface Options extends Omit<EditorOptions, 'onChange' | 'onDeploy'> {
  onChange?: (code: string) => void
  onDeploy?: () => Promise<void>
  /** Called with the editor when it is open. */
  onOpen?: (editor: CodeEditor) => void
}

export interface EditorOfPage {
  /** For the element that the editor fills. */
  container: RefObject<HTMLDivElement | null>
  /** Undefined until the editor is loaded. */
  editor: { current: CodeEditor | undefined }
  isReady: boolean
}

const nothing = async () => {}

/** Loads the editor, opens it in an element of the page, and closes it with the component. */
export function useEditor({ onChange = () => {}, onDeploy = nothing, onOpen, ...options }: Options): EditorOfPage {
  const container = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeEditor>(undefined)
  const [isReady, setIsReady] = useState(false)
  const latestDeploy = useRef(onDeploy)
  latestDeploy.current = onDeploy
  useEffect(() => {
    let isGone = false
    const open = async () => {
      const { openEditor } = await import('./open-editor.ts')
      if (isGone) return
      editor.current = openEditor(container.current!, { ...options, onChange, onDeploy: latestDeploy })
      onOpen?.(editor.current)
      setIsReady(true)
    }
    void open()
    return () => {
      isGone = true
      editor.current?.dispose()
      editor.current = undefined
    }
  }, [options.isReadOnly])
  return { container, editor, isReady }
}

/** Has the browser ask before it leaves the page, while something is unsaved. */
export function useUnsaved(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isUnsaved])
}
