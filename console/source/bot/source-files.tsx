import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { VersionWithCode } from '../api/types.ts'
import { Opening } from '../editor/opening.tsx'
import { useEditor } from '../editor/use-editor.ts'

type Files = NonNullable<VersionWithCode['files']>

/** The source files of a bundle, read-only: their author changes them elsewhere. */
export function SourceFiles({ files }: { files: Files }): JSX.Element {
  const [chosen, setChosen] = useState('')
  const file = files.find(({ path }) => path === chosen) ?? files.at(-1)!
  const opened = useEditor({ code: file.content, isReadOnly: true })
  const { container, editor, isReady } = opened
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
          <Opening of={opened} />
        </div>
      </div>
    </section>
  )
}
