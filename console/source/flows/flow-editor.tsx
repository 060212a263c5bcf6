import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { EditorBar } from '../editor/editor-bar.tsx'
import { Opening } from '../editor/opening.tsx'
import { plural } from '../format.ts'
import { Confirm } from '../parts/dialog.tsx'
import { toGraph } from './graph.ts'
import { Picture } from './picture.tsx'
import { placeBoxes, type Layout } from './place-boxes.ts'
import { addressOf, useFlowEditor, type EditedFlow } from './use-flow-editor.ts'

export interface FlowEditorProps
  extends Pick<EditedFlow, 'bot' | 'flow' | 'onDeployed'>, Partial<Pick<EditedFlow, 'isNew' | 'isDeleted'>> {
  /** Whether the bot has something without the flow: code, or another flow. */
  isRemovable: boolean
  layout: Layout
  waits: ReadonlyMap<string, number>
}

/**
 * A flow as JSON, beside its picture, which follows the text. While the text is no flow, the picture is that of the last
 * one that was.
 */
export function FlowEditor(props: FlowEditorProps): JSX.Element {
  const { bot, flow, isNew = false, isDeleted = false, isRemovable, layout, waits, onDeployed } = props
  const edited = useFlowEditor({ bot, flow, isNew, isDeleted, onDeployed })
  const { opened, shown, selected, deploy } = edited
  const [isDeleting, setIsDeleting] = useState(false)
  const waiting = flow.nodes.reduce((sum, node) => sum + (waits.get(`${flow.id}/${node.id}`) ?? 0), 0)
  const graph = useMemo(() => toGraph(shown), [shown])
  const placed = useMemo(() => placeBoxes(graph, layout, shown.start), [graph, layout])
  return (
    <>
      <EditorBar
        file={`flows/${shown.id}.json`}
        isChanged={edited.isChanged}
        isBusy={edited.isBusy}
        mayDeploy={opened.isReady}
        onDeploy={() => deploy()}
        onDiscard={isNew ? undefined : edited.discard}
        problem={
          edited.problem || (isDeleted ? 'Another deployment has deleted this flow. “Deploy” adds it again.' : '')
        }
      >
        {isRemovable && (
          <button type="button" class="button danger" onClick={() => setIsDeleting(true)}>
            Delete
          </button>
        )}
      </EditorBar>
      <div class="flow-editor">
        <div class="editor" ref={opened.container}>
          <Opening of={opened} />
        </div>
        <Picture
          botId={bot.id}
          flow={shown}
          waits={waits}
          visits={[]}
          selected={selected}
          addressOf={(node, other) =>
            isNew && other === undefined
              ? `?new=&node=${encodeURIComponent(node ?? '')}`
              : addressOf(bot, other ?? flow.id, node)
          }
          graph={graph}
          placed={placed}
        />
      </div>
      {edited.loss && (
        <Confirm
          title="Deploy without these nodes"
          action="Deploy without them"
          isDangerous
          onClose={edited.forgetLoss}
          onSubmit={() => deploy(true)}
        >
          <p>{edited.loss}</p>
        </Confirm>
      )}
      {isDeleting && (
        <Confirm
          title={`Delete flow ${flow.id}`}
          action="Delete"
          isDangerous
          onClose={() => setIsDeleting(false)}
          onSubmit={edited.remove}
        >
          <p>A version without it is deployed. Earlier versions keep it: a rollback brings it back.</p>
          {waiting > 0 && <p>Waiting in it: {plural(waiting, 'conversation')}.</p>}
        </Confirm>
      )}
    </>
  )
}
