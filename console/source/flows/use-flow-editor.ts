import { useEffect, useRef, useState } from 'preact/hooks'
import type { Flow } from '../../../shared/flows/flow.ts'
import { explain, Failure } from '../api/ask.ts'
import type { Bot } from '../api/types.ts'
import { useEditor } from '../editor/use-editor.ts'
import { Drafts } from '../state/drafts.ts'
import { notify } from '../state/notices.ts'
import { navigate, query, to } from '../state/route.ts'
import { useUnsaved } from '../state/unsaved.ts'
import { deleteFlow, deployFlow, FlowChangedError } from './flow-deployment.ts'
import { positionIn, readFlow, writeFlow } from './flow-text.ts'

/** Changed flows that are not deployed, by bot and flow. */
const drafts = new Drafts<{ text: string; basedOn: string }>()

/** The deployed flow with which a changed text began; undefined without a changed text. */
export function beginningOf(bot: Bot, flowId: string): Flow | undefined {
  const draft = drafts.get(`${bot.id}/${flowId}`)
  return draft && readFlow(draft.basedOn)
}

/** The address of a flow in the editor, and of one of its nodes. */
export const addressOf = (bot: Bot, flow: string, node?: string) =>
  `${to('bots', bot.id, 'flows', flow)}?edit=${node === undefined ? '' : `&node=${encodeURIComponent(node)}`}`

export interface EditedFlow {
  bot: Bot
  /** The deployed flow, or the one that a new flow begins with. */
  flow: Flow
  isNew: boolean
  /** Whether another deployment has deleted the flow, whose changed text is kept. */
  isDeleted: boolean
  /** Called after each deployment, before the page is that of the deployed flow. */
  onDeployed: () => void
}

/** The text of a flow in an editor: its draft, the flow that it is, and its deployment. */
export function useFlowEditor({ bot, flow, isNew, isDeleted, onDeployed }: EditedFlow) {
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

  const deploy = async (allowRemovedNodes = false) => {
    if (!editor.current) return
    const text = editor.current.read()
    setIsBusy(true)
    setProblem('')
    try {
      const edited = JSON.parse(text) as Flow
      await deployFlow(bot, {
        edited,
        replaces: isNew ? undefined : flow.id,
        basedOn: basedOn.current,
        mayBeDeleted: isDeleted,
        allowRemovedNodes,
      })
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
      if (error instanceof FlowChangedError) basedOn.current = error.present
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
  const { editor, isReady } = opened

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
    await deleteFlow(bot, flow.id)
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

  return {
    opened,
    shown,
    selected,
    isChanged,
    isBusy,
    problem,
    loss,
    forgetLoss: () => setLoss(''),
    deploy,
    discard,
    remove,
  }
}
