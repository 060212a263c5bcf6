import { computed, signal, type ReadonlySignal } from '@preact/signals'
import type { Handover, Participant } from './types.ts'

/** A line of the conversation which says who answers from then on: a person, or without a name the bot again. */
export interface Turn {
  at: string
  name?: string
}

/** The other participants of the conversation, who answer in the bot's place. */
export interface People {
  /** The lines of the conversation, in order. */
  readonly turns: ReadonlySignal<Turn[]>
  /** The author of a message; undefined for the bot, and for a user without a name. */
  find(userId: string): Participant | undefined
  begin(participants: Participant[], handovers: Handover[]): void
  add(participant: Participant): void
  remove(participantId: string): void
  update(handover: Handover): void
}

/** @param ownId the id of the visitor, who is a participant too */
export function openPeople(ownId: () => string | undefined): People {
  const participants = signal<Participant[]>([])
  const handovers = signal<Handover[]>([])
  const find = (userId: string) => participants.value.find(({ id, name }) => id === userId && id !== ownId() && name)
  return {
    turns: computed(() => {
      const arrivals = [
        ...participants.value.map(({ id, joinedAt }) => ({ at: joinedAt, userId: id })),
        ...handovers.value.flatMap(({ userId, assignedAt }) =>
          userId && assignedAt ? [{ at: assignedAt, userId }] : [],
        ),
      ]
      const ends = handovers.value.flatMap(({ endedAt }) => (endedAt ? [{ at: endedAt, userId: undefined }] : []))
      let answering: string | undefined
      return [...arrivals, ...ends]
        .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
        .flatMap(({ at, userId }): Turn[] => {
          const name = userId === undefined ? undefined : find(userId)?.name
          if (userId === answering || (userId !== undefined && name === undefined)) return []
          answering = userId
          return [{ at, ...(name !== undefined && { name }) }]
        })
    }),
    find,
    begin(present, past) {
      participants.value = present
      handovers.value = past
    },
    add: (participant) => (participants.value = [...without(participants.value, participant.id), participant]),
    remove: (participantId) => (participants.value = without(participants.value, participantId)),
    update: (handover) => (handovers.value = [...without(handovers.value, handover.id), handover]),
  }
}

function without<Row extends { id: string }>(rows: Row[], removed: string): Row[] {
  return rows.filter(({ id }) => id !== removed)
}
