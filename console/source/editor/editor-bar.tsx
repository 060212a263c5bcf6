import type { ComponentChildren, JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'

interface EditorBarProps {
  /** The name of the edited file. */
  file: string
  /** Whether the text differs from what is deployed. */
  isChanged: boolean
  isBusy: boolean
  /** Whether the text can be deployed now. */
  mayDeploy: boolean
  onDeploy: () => unknown
  /** Restores the deployed text; absent where there is none. */
  onDiscard?: (() => void) | undefined
  /** Why the last deployment failed, or what to know before the next one. */
  problem: string
  /** Further buttons. */
  children?: ComponentChildren
}

/** The bar above an editor: the file and its state, the buttons to discard and to deploy, and a problem. */
export function EditorBar(props: EditorBarProps): JSX.Element {
  const { file, isChanged, isBusy, mayDeploy, onDeploy, onDiscard, problem, children } = props
  return (
    <>
      <div class="toolbar">
        <span class="file">
          <code>{file}</code>
          {isChanged && <span class="status warn">not deployed</span>}
        </span>
        <span class="hint keys">Esc, then Tab leaves the editor</span>
        <span class="spacer" />
        {children}
        {isChanged && onDiscard && (
          <button type="button" class="button" onClick={onDiscard}>
            Discard
          </button>
        )}
        <button
          type="button"
          class="button primary"
          disabled={isBusy || !mayDeploy || !isChanged}
          title="Ctrl+S or ⌘S in the editor"
          onClick={onDeploy}
        >
          <Icon name="deploy" />
          {isBusy ? 'Deploying' : 'Deploy'}
        </button>
      </div>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}
