import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { VersionWithCode } from '../api/types.ts'
import type { CodeEditor } from '../editor/open-editor.ts'
import { Skeleton } from '../parts/loaded.tsx'

type Files = NonNullable<VersionWithCode['files']>

const nothing = { current: async () => {} }

/** The source files of a bundle, read-only: their author changes them elsewhere. */
export function SourceFiles({ files }: { files: Files }): JSX.Element {
  const container = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeEditor>(undefined)
  const [isReady, setIsReady] = useState(false)
  const [chosen, setChosen] = useState('')
  const file = files.find(({ path }) => path === chosen) ?? files.at(-1)!

  useEffect(() => {
    let isGone = false
    const open = async () => {
      const { openEditor } = await import('../editor/open-editor.ts')
      if (isGone) return
      const options = { code: file.content, isReadOnly: true, onChange: () => {}, onDeploy: nothing }
      editor.current = openEditor(container.current!, options)
      setIsReady(true)
    }
    void open()
    return () => {
      isGone = true
      editor.current?.dispose()
      editor.current = undefined
    }
  }, [])
  useEffect(() => editor.current?.write(file.content), [file, isReady])

  return (
    <section class="code" aria-label="Code">
      <p class="hint">These files were deployed as one bundle: change them in their project, and deploy the project.</p>
      <div class="sources">
        <nav aria-label="Files">
          {files
            .toSorted((a, b) => a.path.localeCompare(b.path))
            .map(({ path }) => (
              <button
                key={path}
                type="button"
                title={path}
                aria-current={path === file.path ? 'true' : undefined}
                onClick={() => setChosen(path)}
              >
                {path}
              </button>
            ))}
        </nav>
        <div class="editor" ref={container}>
          {!isReady && <Skeleton lines={12} />}
        </div>
      </div>
    </section>
  )
}
