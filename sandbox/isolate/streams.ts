import type { FetchFailure } from '../protocol/contract.ts'
import { creditParts } from '../protocol/protocol.ts'
import { create, NativePromise, parse, record, toText } from './primordials.ts'
import { createQueue, type Queue } from './queue.ts'
import type { Post } from './shared.ts'

/** `text`: texts are preferred, where the bytes are UTF-8. */
export type Form = 'text' | 'bytes'

type Data = string | ArrayBuffer

/** What comes next of a stream: data, or its end, or the failure that it ended in. */
export interface Next {
  data: Data | undefined
  failure: FetchFailure | undefined
}

/** Something that a run reads in parts. */
export interface Stream {
  /** @param form the same each time */
  next(form: Form): Promise<Next>
  /** Says that nobody reads on. */
  cancel(): void
}

/** The streams of one run. */
export interface Streams {
  open(name: string): Stream
  /** A part has come. */
  receive(name: string, data: Data, isLast: boolean, failure: string): void
}

interface State {
  name: string
  parts: Queue<Data>
  readers: Queue<(next: Next) => void>
  isAsked: boolean
  isOver: boolean
  failure: FetchFailure | undefined
}

/**
 * Nothing comes before somebody reads. Then so many parts may be on their way as there is credit for, and one more for
 * each that was taken.
 */
export function createStreams(id: string, post: Post): Streams {
  const states = create(null) as Record<string, State>

  const ask = ({ name, isOver }: State, form: Form, parts: number) => {
    if (!isOver) post('pull', id, name, `${form} ${toText(parts)}`)
  }

  const next = async (state: State, form: Form): Promise<Next> => {
    let data = state.parts.shift()
    if (data === undefined && state.isOver) return record({ data, failure: state.failure })
    if (!state.isAsked) {
      state.isAsked = true
      ask(state, form, creditParts)
    }
    if (data === undefined) {
      const came = await new NativePromise<Next>((resolve) => state.readers.push(resolve))
      if (came.data === undefined) return came
      data = came.data
    }
    ask(state, form, 1)
    return record({ data, failure: undefined })
  }

  const end = (state: State, failure: FetchFailure | undefined) => {
    state.isOver = true
    state.failure = failure
    delete states[state.name]
    for (let resolve = state.readers.shift(); resolve !== undefined; resolve = state.readers.shift()) {
      resolve(record({ data: undefined, failure }))
    }
  }

  return {
    open(name) {
      const state: State = record({
        name,
        parts: createQueue<Data>(),
        readers: createQueue<(next: Next) => void>(),
        isAsked: false,
        isOver: false,
        failure: undefined,
      })
      states[name] = state
      return record({
        next: (form: Form) => next(state, form),
        cancel() {
          if (state.isOver) return
          post('cancel', id, name, '')
          while (state.parts.length > 0) state.parts.shift()
          end(state, undefined)
        },
      })
    },
    receive(name, data, isLast, failure) {
      const state = states[name]
      if (state === undefined) return
      if (data !== '') {
        const reader = state.readers.shift()
        if (reader === undefined) state.parts.push(data)
        else reader(record({ data, failure: undefined }))
      }
      if (isLast) end(state, failure === '' ? undefined : (parse(failure) as FetchFailure))
    },
  }
}
