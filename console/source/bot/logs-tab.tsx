import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ask } from '../api/ask.ts'
import type { LogLine } from '../api/types.ts'
import { Select } from '../parts/choice.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, Refusal } from '../parts/loaded.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { useStayAtEnd } from '../parts/stay-at-end.ts'
import { query, setQuery } from '../state/route.ts'
import { chatIsOpen, type TabProps } from './tab.ts'
import { LogLines } from './log-lines.tsx'

const betweenLooksMilliseconds = 700
const maxLines = 2000
const firstLines = 100

const levels = [
  { value: '', label: 'All levels' },
  { value: 'info', label: 'Info and above' },
  { value: 'warn', label: 'Warnings and errors' },
  { value: 'error', label: 'Errors' },
] as const
type Level = (typeof levels)[number]['value']

/** The live log of the bot. */
export function LogsTab({ bot }: TabProps): JSX.Element {
  const level = (query.value.get('level') ?? '') as Level
  const words = query.value.get('text') ?? ''
  const [isPaused, setIsPaused] = useState(false)
  const { lines, isCut, error, clear } = useLiveLog(bot.id, { level, messageContains: words }, isPaused)
  const end = useStayAtEnd(lines)
  return (
    <section class="logs" aria-label="Log">
      <div class="toolbar">
        <SearchField label="Search the log" value={words} onChange={(text) => setQuery({ text })} />
        <Select label="Level" options={levels} value={level} onChange={(level) => setQuery({ level })} />
        <button type="button" class="button" aria-pressed={isPaused} onClick={() => setIsPaused(!isPaused)}>
          <Icon name={isPaused ? 'play' : 'pause'} />
          {isPaused ? 'Go on' : 'Pause'}
        </button>
        <button type="button" class="button" onClick={clear}>
          Clear
        </button>
      </div>
      {error !== undefined && <Refusal error={error} />}
      <div class="log-scroll" ref={end} tabIndex={0} role="log" aria-label="Lines of the log" aria-live="off">
        {isCut && <p class="quiet">Lines were left out because too many were logged.</p>}
        {lines === undefined ? null : lines.length > 0 ? (
          <LogLines botId={bot.id} lines={lines} />
        ) : (
          <Empty icon="audit" title={words || level ? 'No line matches' : 'No log lines yet'}>
            <p>
              What code gives to <code>logger.info</code> or <code>console.log</code> comes here as it happens.
            </p>
            <button type="button" class="button" onClick={() => (chatIsOpen.value = true)}>
              <Icon name="chat" />
              Open the chat
            </button>
          </Empty>
        )}
      </div>
      <p class="live quiet">
        <i class={isPaused ? '' : 'is-live'} /> {isPaused ? 'Paused' : 'Live'}
      </p>
    </section>
  )
}

interface LiveLog {
  lines: LogLine[] | undefined
  isCut: boolean
  error: unknown
  clear: () => void
}

/** Polls for new lines, except while paused or while the page is hidden. No line in between is lost. */
function useLiveLog(botId: string, filter: { level: string; messageContains: string }, isPaused: boolean): LiveLog {
  const key = JSON.stringify([botId, filter])
  const [state, setState] = useState<{ key: string; lines?: LogLine[]; next?: string; isCut: boolean }>({
    key,
    isCut: false,
  })
  const [error, setError] = useState<unknown>(undefined)
  const current = state.key === key ? state : { key, isCut: false }
  const latest = useRef(current)
  latest.current = current

  useEffect(() => {
    if (isPaused) return
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      try {
        const { next } = latest.current
        if (!document.hidden || next === undefined) {
          const query = { ...filter, ...(next === undefined ? { pageSize: firstLines } : { after: next }) }
          const answer = await ask<'followBotLogs'>('GET', `/bots/${botId}/logs/new`, { query, abort: abort.signal })
          // Read after the answer: the member may have cleared them meanwhile.
          const { lines = [], isCut } = latest.current
          const all = answer.logs.length > 0 ? [...lines, ...answer.logs].slice(-maxLines) : lines
          latest.current = { key, lines: all, next: answer.next, isCut: isCut || answer.isCut }
          setState(latest.current)
          setError(undefined)
        }
      } catch (error) {
        if (abort.signal.aborted) return
        setError(error)
      }
      if (!abort.signal.aborted) timer = setTimeout(look, betweenLooksMilliseconds)
    }
    void look()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [key, isPaused])

  return {
    lines: current.lines,
    isCut: current.isCut,
    error,
    clear() {
      latest.current = { ...latest.current, lines: [], isCut: false }
      setState(latest.current)
    },
  }
}
