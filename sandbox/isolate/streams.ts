import type { FetchFailure } from '../protocol/contract.ts'
import { creditParts } from '../protocol/protocol.ts'
import { create, NativePromise, parse, record, toText } from './primordials.ts'
import { createQueue, type Queue } from './queue.ts'
import type { Post } from './shared.ts'

/** `text`: strings where the bytes are valid UTF-8, otherwise bytes. */
export type Form = 'text' | 'bytes'

type Data = string | ArrayBuffer

/** The next item of a stream: data, the end, or the failure that ended it. */
export interface Next {
  data: Data | undefined
  failure: FetchFailure | undefined
}

/** A source that a run reads in parts. */
export interface Stream {
  /** @param form must be the same in each call */
  next(form: Form): Promise<Next>
  /** Tells the host that the stream is read no further. */
  cancel(): void
}

/** A stream of a run, which the kernel may end. */
export interface OpenStream extends Stream {
  /** Ends it here; the host is told nothing. */
  end(): void
}

/** The streams of one run. */
export interface Streams {
  /** @param onLast receives whether the stream has failed, when its last part has come */
  open(name: string, onLast?: (isFailed: boolean) => void): OpenStream
  /** Receives a part. */
  receive(name: string, data: Data, isLast: boolean, failure: string): void
}

interface State {
  name: string
  parts: Queue<Data>
  readers: Queue<(next: Next) => void>
  isAsked: boolean
  isOver: boolean
  failure: FetchFailure | undefined
  onLast: ((isFailed: boolean) => void) | undefined
}

/**
 * A stream requests nothing before its first read. From then on, the number of parts in transit is bounded by the
 * credit, which each read renews by one part.
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
    open(name, onLast) {
      const state: State = record({
        name,
        parts: createQueue<Data>(),
        readers: createQueue<(next: Next) => void>(),
        isAsked: false,
        isOver: false,
        failure: undefined,
        onLast,
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
        end() {
          if (!state.isOver) end(state, undefined)
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
      if (!isLast) return
      end(state, failure === '' ? undefined : (parse(failure) as FetchFailure))
      state.onLast?.(failure !== '')
    },
  }
}
