import { signal, type Signal } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { followLines } from '../api/follow-lines.ts'
import { useGathered } from '../state/gathered.ts'

type Line = AnswerOf<'followBotConversation'>

/** A message that the bot is writing. */
export interface Writing {
  streamId: string
  createdAt: string
  text: string
  /** The number of the last part. */
  sequence: number
  /** The message that it has become, which replaces it as soon as it is loaded. */
  messageId?: string
  /** The time of the last part. */
  at: number
}

export interface FollowedConversation {
  /** Whether the live lines arrive; without them, the page asks for news more often. */
  isFollowing: boolean
  writings: Signal<readonly Writing[]>
}

/**
 * Follows a conversation while the page is visible: browsers allow few connections at once.
 *
 * @param path the conversation's in the Admin API
 * @param reading the reading in the audit log that the following belongs to; undefined until there is one
 * @param onChange called soon after the transcript has changed
 */
export function useConversationLines(
  path: string,
  reading: string | undefined,
  onChange: () => void,
): FollowedConversation {
  const [isFollowing, setIsFollowing] = useState(false)
  const [isVisible, setIsVisible] = useState(!document.hidden)
  const writings = useMemo(() => signal<readonly Writing[]>([]), [path])
  const changeSoon = useGathered(onChange)
  useEffect(() => {
    const look = () => setIsVisible(!document.hidden)
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [])
  useEffect(() => {
    if (reading === undefined || !isVisible) return
    const abort = new AbortController()
    void followLines<'followBotConversation'>(`${path}/follow`, abort.signal, {
      query: { reading },
      onLine(line) {
        setIsFollowing(true)
        if (line.type === 'ready' || line.type === 'change') changeSoon()
        writings.value = grow(writings.value, line)
      },
      onLost: () => setIsFollowing(false),
    })
    return () => {
      abort.abort()
      setIsFollowing(false)
    }
  }, [path, reading, isVisible])
  return { isFollowing, writings }
}

/** A stream without a part for so long has lost its end. */
const maxSilentMilliseconds = 60_000
const maxWritings = 20
/** Streams begin with 0 or 1. */
const lastFirst = 1
const maxCharacters = 100_000

function grow(writings: readonly Writing[], line: Line): readonly Writing[] {
  const { type, streamId } = line
  // After an interruption, parts and ends may be missing.
  if (type === 'ready') return []
  if (type === 'ping') return writings.filter(({ at }) => Date.now() - at < maxSilentMilliseconds)
  if (streamId === undefined) return writings
  const others = writings.filter((each) => each.streamId !== streamId)
  const begun = writings.find((each) => each.streamId === streamId)
  if (type === 'message_stream_delta') return [...others.slice(1 - maxWritings), withPart(begun, streamId, line)]
  if (type === 'message_stream_complete' && begun) return [...others, { ...begun, messageId: line.messageId ?? '' }]
  return others
}

/** Dots stand for parts that are lost. */
function withPart(
  begun: Writing | undefined,
  streamId: string,
  { sequence = 0, delta = '', createdAt }: Line,
): Writing {
  const isNext = begun ? sequence === begun.sequence + 1 : sequence <= lastFirst
  const text = `${begun?.text ?? ''}${isNext ? '' : ' … '}${delta}`.slice(0, maxCharacters)
  return { streamId, createdAt: begun?.createdAt ?? createdAt ?? '', text, sequence, at: Date.now() }
}
