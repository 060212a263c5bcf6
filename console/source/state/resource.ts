import { useEffect, useRef, useState } from 'preact/hooks'
import type { AnswerOf, OperationName } from '../../../shared/openapi/answer-of.ts'
import { ask, Failure, type Query } from '../api/ask.ts'
import { session } from './session.ts'

export interface Resource<Data> {
  /** The last answer, kept during a reload and after a failure. */
  data: Data | undefined
  error: unknown
  reload(): void
}

/** Time between requests while the server cannot be reached. */
const retryMilliseconds = 3000

/** Cache of the last answers, so that a page shows its data at once when it is opened again. */
const answers = new Map<string, unknown>()
const maxAnswers = 200

export function forget(): void {
  answers.clear()
}

/** Keeps data of a page as long as answers, for when the page is opened again. */
export function keep(key: string, data: unknown): void {
  remember(`${session.value?.workspaceId} ${key}`, data)
}

export function kept(key: string): unknown {
  return answers.get(`${session.value?.workspaceId} ${key}`)
}

/**
 * Loads data and refreshes it while the page is visible. A request that does not reach the server is repeated, and so is
 * each one after the member has signed in again.
 *
 * @param key identifies the data; another key loads anew, undefined loads nothing
 * @param every milliseconds between an answer and the next request; without it there is one answer
 * @param whileHidden whether it also refreshes while the page is hidden
 */
export function useResource<Data>(
  key: string | undefined,
  load: (abort: AbortSignal) => Promise<Data>,
  { every, whileHidden = false }: { every?: number; whileHidden?: boolean } = {},
): Resource<Data> {
  const fullKey = key === undefined ? undefined : `${session.value?.workspaceId} ${key}`
  const [state, setState] = useState<{ key: string | undefined; error?: unknown }>({ key: fullKey })
  const [round, setRound] = useState(0)
  const latest = useRef(load)
  latest.current = load

  useEffect(() => {
    if (fullKey === undefined) return
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const again = (after = every) => {
      if (after === undefined || abort.signal.aborted) return
      timer = setTimeout(() => (document.hidden && !whileHidden ? again(after) : void look()), after)
    }
    const look = async () => {
      try {
        const data = await latest.current(abort.signal)
        if (abort.signal.aborted) return
        remember(fullKey, data)
        setState({ key: fullKey })
      } catch (error) {
        if (abort.signal.aborted) return
        setState({ key: fullKey, error })
        if (error instanceof Failure && error.status === 0) return again(retryMilliseconds)
      }
      again()
    }
    void look()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [fullKey, every, whileHidden, round, session.value])

  return {
    data: fullKey === undefined ? undefined : (answers.get(fullKey) as Data | undefined),
    error: state.key === fullKey ? state.error : undefined,
    reload: () => setRound((round) => round + 1),
  }
}

/**
 * The refreshed answer of an operation of the Admin API: `useAnswer<'getQueue'>('/queue', { every: 3000 })`.
 *
 * @param path after `/v1/admin`, or after `/v1` with a bot; nothing is requested where it is undefined
 * @param botId the bot in whose name an operation of the Files or Tables API is called
 */
export function useAnswer<Name extends OperationName>(
  path: string | undefined,
  { query = {}, botId, ...options }: { query?: Query; botId?: string; every?: number } = {},
): Resource<AnswerOf<Name>> {
  const key = path && `${botId ?? ''} ${path} ${JSON.stringify(query)}`
  const load = (abort: AbortSignal) => ask<Name>('GET', path!, { query, abort, ...(botId && { botId }) })
  return useResource(key, load, options)
}

function remember(key: string, data: unknown): void {
  answers.delete(key)
  answers.set(key, data)
  if (answers.size > maxAnswers) answers.delete(answers.keys().next().value!)
}
