import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { loadPart } from '../parts/load-part.ts'
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
  /** Why the editor cannot be loaded. */
  error: unknown
  /** Loads it again. */
  reload(): void
}

const nothing = async () => {}

/** Loads the editor, opens it in an element of the page, and closes it with the component. */
export function useEditor({ onChange = () => {}, onDeploy = nothing, onOpen, ...options }: Options): EditorOfPage {
  const container = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeEditor>(undefined)
  const [isReady, setIsReady] = useState(false)
  const [error, setError] = useState<unknown>()
  const [round, setRound] = useState(0)
  const latestDeploy = useRef(onDeploy)
  latestDeploy.current = onDeploy
  useEffect(() => {
    let isGone = false
    setError(undefined)
    const open = async () => {
      const { openEditor } = await loadPart(() => import('./open-editor.ts'))
      if (isGone) return
      editor.current = openEditor(container.current!, { ...options, onChange, onDeploy: latestDeploy })
      onOpen?.(editor.current)
      setIsReady(true)
    }
    open().catch((reason: unknown) => !isGone && setError(reason))
    return () => {
      isGone = true
      editor.current?.dispose()
      editor.current = undefined
    }
  }, [options.isReadOnly, round])
  return { container, editor, isReady, error, reload: () => setRound((round) => round + 1) }
}
