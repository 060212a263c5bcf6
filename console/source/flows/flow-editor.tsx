import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Flow } from '../../../shared/flows/flow.ts'
import { ask, explain, Failure } from '../api/ask.ts'
import type { Bot } from '../api/types.ts'
import { EditorBar } from '../editor/editor-bar.tsx'
import { Opening } from '../editor/opening.tsx'
import { useEditor } from '../editor/use-editor.ts'
import { Confirm } from '../parts/dialog.tsx'
import { plural } from '../format.ts'
import { Drafts } from '../state/drafts.ts'
import { notify } from '../state/notices.ts'
import { navigate, query, to } from '../state/route.ts'
import { useUnsaved } from '../state/unsaved.ts'
import { positionIn, readFlow, writeFlow } from './flow-text.ts'
import { toGraph } from './graph.ts'
import { Picture } from './picture.tsx'
import { placeBoxes, type Layout } from './place-boxes.ts'

export interface FlowEditorProps {
  bot: Bot
  /** The deployed flow, or the one that a new flow begins with. */
  flow: Flow
  isNew?: boolean
  /** Whether another deployment has deleted the flow, whose changed text is kept. */
  isDeleted?: boolean
  /** Whether the bot has something without the flow: code, or another flow. */
  isRemovable: boolean
  layout: Layout
  waits: ReadonlyMap<string, number>
  /** Called after each deployment, before the page is that of the deployed flow. */
  onDeployed: () => void
}

/** Changed flows that are not deployed, by bot and flow. */
const drafts = new Drafts<{ text: string; basedOn: string }>()

/** The deployed flow with which a changed text began; undefined without a changed text. */
export function beginningOf(bot: Bot, flowId: string): Flow | undefined {
  const draft = drafts.get(`${bot.id}/${flowId}`)
  return draft && readFlow(draft.basedOn)
}

const addressOf = (bot: Bot, flow: string, node?: string) =>
  `${to('bots', bot.id, 'flows', flow)}?edit=${node === undefined ? '' : `&node=${encodeURIComponent(node)}`}`

/**
 * A flow as JSON, beside its picture, which follows the text. While the text is no flow, the picture is that of the last
 * one that was.
 */
export function FlowEditor(props: FlowEditorProps): JSX.Element {
  const { bot, flow, isNew = false, isDeleted = false, isRemovable, layout, waits, onDeployed } = props
  const key = `${bot.id}/${isNew ? '' : flow.id}`
  const given = writeFlow(flow)
  const deployed = isNew ? '' : given
  const begun = drafts.get(key)?.text ?? given
  /** The deployed flow that the text began with. */
  const basedOn = useRef(drafts.get(key)?.basedOn ?? deployed)
  const [shown, setShown] = useState(() => readFlow(begun) ?? flow)
  const [isChanged, setIsChanged] = useState(begun !== deployed)
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState('')
  /** The reason why the platform refuses the loss of nodes. */
  const [loss, setLoss] = useState('')
  const [isDeleting, setIsDeleting] = useState(false)

  const deploy = async (allowRemovedNodes = false) => {
    if (!editor.current) return
    const text = editor.current.read()
    setIsBusy(true)
    setProblem('')
    try {
      const edited = JSON.parse(text) as Flow
      const others = await deployedFlows(bot)
      const present = isNew ? undefined : others.find(({ id }) => id === flow.id)
      const before = present ? writeFlow(present) : ''
      if (before !== basedOn.current && !(isDeleted && !present)) {
        basedOn.current = before
        const change = present ? 'changed' : 'deleted'
        const again = present ? 'replaces it' : 'adds it again'
        throw new Error(`The flow was ${change} by another deployment in the meantime. Another “Deploy” ${again}.`)
      }
      const flows = present ? others.map((each) => (each === present ? edited : each)) : [...others, edited]
      await ask<'updateBot'>('PUT', `/bots/${bot.id}`, { body: { flows, allowRemovedNodes } })
      basedOn.current = writeFlow(edited)
      // The author may have gone on writing.
      const now = editor.current?.read() ?? text
      if (now === text) drafts.delete(key)
      else drafts.set(key, { text: now, basedOn: basedOn.current })
      setIsChanged(now !== text)
      notify('good', 'Deployed: it handles all events from now on.')
      onDeployed()
      if (isNew || edited.id !== flow.id) navigate(addressOf(bot, edited.id), { replace: true })
    } catch (error) {
      if (error instanceof Failure && error.type === 'BreakingChanges') return setLoss(error.message)
      setProblem(explain(error))
      const at = error instanceof Failure && error.metadata['flow'] === shown.id && positionIn(text, error.metadata)
      if (at) editor.current?.mark(at, explain(error))
    } finally {
      setIsBusy(false)
    }
  }

  const opened = useEditor({
    code: begun,
    file: 'flow.json',
    label: isNew ? 'New flow, as JSON' : `Flow ${flow.id}, as JSON`,
    isReadOnly: false,
    onChange(text) {
      const differs = text !== basedOn.current
      setIsChanged(differs)
      setProblem('')
      if (differs) drafts.set(key, { text, basedOn: basedOn.current })
      else drafts.delete(key)
      const read = readFlow(text)
      if (read) setShown(read)
    },
    onDeploy: () => deploy(),
  })
  const { container, editor, isReady } = opened

  // After another person's deployment, an unchanged editor shows the new flow.
  useEffect(() => {
    if (drafts.has(key) || basedOn.current === deployed) return
    basedOn.current = deployed
    editor.current?.write(deployed)
  }, [deployed])

  const selected = query.value.get('node') ?? undefined
  useEffect(() => {
    if (!isReady || selected === undefined || !editor.current) return
    const at = positionIn(editor.current.read(), { node: selected })
    if (at) editor.current.goTo(at)
  }, [selected, isReady])

  useUnsaved(drafts.has(key))

  const remove = async () => {
    const flows = (await deployedFlows(bot)).filter(({ id }) => id !== flow.id)
    await ask<'updateBot'>('PUT', `/bots/${bot.id}`, { body: { flows } })
    drafts.delete(key)
    notify('good', `Flow ${flow.id} is deleted.`)
    onDeployed()
    navigate(to('bots', bot.id, 'flows'), { replace: true })
  }

  const discard = () => {
    if (!isDeleted) return editor.current?.write(basedOn.current)
    drafts.delete(key)
    navigate(to('bots', bot.id, 'flows'), { replace: true })
  }

  const waiting = flow.nodes.reduce((sum, node) => sum + (waits.get(`${flow.id}/${node.id}`) ?? 0), 0)
  const graph = useMemo(() => toGraph(shown), [shown])
  const placed = useMemo(() => placeBoxes(graph, layout, shown.start), [graph, layout])
  return (
    <>
      <EditorBar
        file={`flows/${shown.id}.json`}
        isChanged={isChanged}
        isBusy={isBusy}
        mayDeploy={isReady}
        onDeploy={() => deploy()}
        onDiscard={isNew ? undefined : discard}
        problem={problem || (isDeleted ? 'Another deployment has deleted this flow. “Deploy” adds it again.' : '')}
      >
        {isRemovable && (
          <button type="button" class="button danger" onClick={() => setIsDeleting(true)}>
            Delete
          </button>
        )}
      </EditorBar>
      <div class="flow-editor">
        <div class="editor" ref={container}>
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
      {loss && (
        <Confirm
          title="Deploy without these nodes"
          action="Deploy without them"
          isDangerous
          onClose={() => setLoss('')}
          onSubmit={() => deploy(true)}
        >
          <p>{loss}</p>
        </Confirm>
      )}
      {isDeleting && (
        <Confirm
          title={`Delete flow ${flow.id}`}
          action="Delete"
          isDangerous
          onClose={() => setIsDeleting(false)}
          onSubmit={remove}
        >
          <p>A version without it is deployed. Earlier versions keep it: a rollback brings it back.</p>
          {waiting > 0 && <p>Waiting in it: {plural(waiting, 'conversation')}.</p>}
        </Confirm>
      )}
    </>
  )
}

/** The flows that are deployed now: those that the page has may be older. */
async function deployedFlows({ id }: Bot): Promise<Flow[]> {
  const { bot } = await ask<'getBot'>('GET', `/bots/${id}`)
  if (!bot.version) return []
  const { version } = await ask<'getBotVersion'>('GET', `/bots/${id}/versions/${bot.version.id}`)
  return (version.flows ?? []) as unknown as Flow[]
}
