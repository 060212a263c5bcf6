import type { Handover, HandoverNote } from '../api/types.ts'
import { isBefore, type LoadedMessages, type Moment, type TranscriptMessage } from './messages.ts'
import type { HandoverWithNotes } from './use-handovers.ts'

/** A moment at which other participants begin to answer: people, one of them, or the bot again. */
export interface Turn {
  /** A text of a person before the line's own, with a direction of its own. */
  name?: string
  text: string
  /** Another one, after the line's own. */
  title?: string | undefined
  at: string
}

/** A line of a transcript. */
export type Entry = Moment &
  (
    | { kind: 'message'; message: TranscriptMessage }
    | { kind: 'note'; note: HandoverNote; handoverId: string }
    | { kind: 'turn'; turn: Turn }
  )

/** Messages, notes and turns in the order of their times, oldest first, without those among messages that are not loaded. */
export function toEntries({ messages, nextToken }: LoadedMessages, handovers: HandoverWithNotes[]): Entry[] {
  const begin = nextToken === undefined ? '' : (messages.at(-1)?.createdAt ?? '')
  const others = handovers.flatMap(({ handover, notes }) => [
    ...turnsOf(handover).map((turn, index): Entry => ({
      kind: 'turn',
      id: `${handover.id} ${index}`,
      createdAt: turn.at,
      turn,
    })),
    ...notes.map((note): Entry => ({
      kind: 'note',
      id: note.id,
      createdAt: note.createdAt,
      note,
      handoverId: handover.id,
    })),
  ])
  const entries: Entry[] = [
    ...messages.map((message): Entry => ({ kind: 'message', id: message.id, createdAt: message.createdAt, message })),
    ...others.filter(({ createdAt }) => createdAt >= begin),
  ]
  return entries.toSorted((one, other) => (isBefore(one, other) ? -1 : 1))
}

function turnsOf(handover: Handover): Turn[] {
  const { title, requestedBy, createdAt, member, assignedAt, endedAt, status } = handover
  const turns: Turn[] = []
  if (requestedBy !== 'member') turns.push({ text: 'Handed over to people', title, at: createdAt })
  if (member && assignedAt) turns.push({ name: member.name, text: 'answers', at: assignedAt })
  if (endedAt) {
    const text =
      status === 'expired' ? 'The time of the handover is over: the bot answers' : 'Handed back: the bot answers'
    turns.push({ text, at: endedAt })
  }
  return turns
}
