import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, explain, Failure } from '../api/ask.ts'
import type { Bot } from '../api/types.ts'
import { EditorBar } from '../editor/editor-bar.tsx'
import { Opening } from '../editor/opening.tsx'
import { useEditor } from '../editor/use-editor.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Refusal, Skeleton } from '../parts/loaded.tsx'
import { Drafts } from '../state/drafts.ts'
import { notify } from '../state/notices.ts'
import { useAnswer } from '../state/resource.ts'
import { query, to } from '../state/route.ts'
import { mayChange } from '../state/session.ts'
import { useUnsaved } from '../state/unsaved.ts'
import { madeElsewhere } from './made-elsewhere.ts'
import { SourceFiles } from './source-files.tsx'
import type { TabProps } from './tab.ts'
import { firstCode } from './first-code.ts'

/** The editor of the deployed code. */
export function CodeTab({ bot, reloadBot }: TabProps): JSX.Element {
  const { version } = bot
  const code = useAnswer<'getBotVersion'>(version && `/bots/${bot.id}/versions/${version.id}`)
  // After a deployment the editor keeps the previous code until that of the new version is loaded.
  const last = useRef<string>(undefined)
  last.current = code.data?.version.code ?? last.current
  const files = code.data?.version.files
  if (files) return <SourceFiles key={version?.id} files={files} />
  if (!version) return <Editing key="none" bot={bot} code={firstCode} isNew reloadBot={reloadBot} />
  return (
    <>
      {last.current !== undefined && <Editing key={bot.id} bot={bot} code={last.current} reloadBot={reloadBot} />}
      {code.error !== undefined && <Refusal error={code.error} reload={code.reload} isOfResource />}
      {last.current === undefined && code.error === undefined && <Skeleton lines={10} />}
    </>
  )
}

/** Changed code that is not deployed, by bot id. */
const drafts = new Drafts<{ code: string; basedOn: string }>()

const replacing = 'Another version was deployed in the meantime. Your deployment replaces it.'

interface EditingProps {
  bot: Bot
  /** The deployed code. */
  code: string
  isNew?: boolean
  reloadBot: () => void
}

function Editing({ bot, code, isNew = false, reloadBot }: EditingProps): JSX.Element {
  const [isChanged, setIsChanged] = useState(drafts.has(bot.id))
  const [isBusy, setIsBusy] = useState(false)
  const [problem, setProblem] = useState(() => {
    const draft = drafts.get(bot.id)
    return draft && draft.basedOn !== code ? replacing : ''
  })
  /** The reason why the platform refuses code without hooks. */
  const [loss, setLoss] = useState('')
  const made = madeElsewhere(bot.version, code)
  const isReadOnly = made !== undefined || !mayChange.value
  const inService = useRef(code)

  const deploy = async (allowNoHooks = false) => {
    if (isReadOnly || !editor.current) return
    const text = editor.current.read()
    setIsBusy(true)
    setProblem('')
    try {
      const present = await codeOfOther(bot)
      if (present !== undefined && present !== inService.current) {
        inService.current = present
        reloadBot()
        throw new Error('Another version was deployed in the meantime. Another “Deploy” replaces it.')
      }
      await ask<'updateBot'>('PUT', `/bots/${bot.id}`, { body: { code: text, allowNoHooks } })
      inService.current = text
      drafts.delete(bot.id)
      setIsChanged(editor.current.read() !== text)
      notify('good', 'Deployed: it handles all events from now on.')
      reloadBot()
    } catch (error) {
      if (error instanceof Failure && error.type === 'BreakingChanges') return setLoss(lossOf(error))
      setProblem(explain(error))
      const at = positionOf(error)
      if (at) editor.current.mark(at, explain(error))
    } finally {
      setIsBusy(false)
    }
  }

  const opened = useEditor({
    code: drafts.get(bot.id)?.code ?? code,
    isReadOnly,
    onChange(text) {
      const differs = text !== inService.current
      setIsChanged(differs)
      setProblem('')
      if (differs) drafts.set(bot.id, { code: text, basedOn: inService.current })
      else drafts.delete(bot.id)
    },
    onDeploy: () => deploy(),
    onOpen(open) {
      const line = Number(query.value.get('line'))
      if (line > 0) open.goTo({ line, column: Number(query.value.get('column')) || 1 })
    },
  })
  const { container, editor, isReady } = opened

  // After another person's deployment, an unchanged editor shows the new code.
  useEffect(() => {
    if (inService.current === code) return
    inService.current = code
    if (drafts.has(bot.id)) setProblem(replacing)
    else editor.current?.write(code)
  }, [code])

  useUnsaved(isChanged)

  return (
    <section class="code" aria-label="Code">
      <EditorBar
        file="bot.ts"
        isChanged={(isNew || isChanged) && !isReadOnly}
        isBusy={isBusy}
        mayDeploy={isReady}
        onDeploy={() => deploy()}
        onDiscard={isNew ? undefined : () => editor.current?.write(inService.current)}
        problem={problem}
      />
      {made && (
        <p class="hint">
          {made} <a href={to('bots', bot.id, 'versions')}>Versions</a> shows what has changed.
        </p>
      )}
      <div class="editor" ref={container}>
        <Opening of={opened} />
      </div>
      {loss && (
        <Confirm
          title="Deploy code without hooks"
          action="Deploy without hooks"
          isDangerous
          onClose={() => setLoss('')}
          onSubmit={() => deploy(true)}
        >
          <p>{loss}</p>
        </Confirm>
      )}
    </section>
  )
}

/** The deployed code, if its version is another than the page has. */
async function codeOfOther({ id, version: known }: Bot): Promise<string | undefined> {
  const { bot } = await ask<'getBot'>('GET', `/bots/${id}`)
  if (!bot.version || bot.version.id === known?.id) return undefined
  const { version } = await ask<'getBotVersion'>('GET', `/bots/${id}/versions/${bot.version.id}`)
  return version.code
}

/** The functions that the bot would lose by code that the platform refuses because it has no hooks. */
function lossOf({ metadata }: Failure): string {
  const { hooks = [], actions = [] } = metadata as { hooks?: string[]; actions?: string[] }
  const lost = [...hooks.map((hook) => `the hook ${hook}`), ...actions.map((action) => `the action ${action}`)]
  return `This code has no hooks. The bot would lose ${lost.join(', ')}.`
}

/** The position in the code of a refused upload's error, if it has one. */
function positionOf(error: unknown): { line: number; column: number } | undefined {
  if (!(error instanceof Failure)) return undefined
  const { line, column } = error.metadata
  return typeof line === 'number' && typeof column === 'number' ? { line, column } : undefined
}
