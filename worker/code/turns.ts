import type { Borrowers } from '#shared/rpc/caller.ts'

/** The turn of an event. */
export interface Turn {
  /** Gives the turn to others while the work is in progress, and takes it back before the result is returned. */
  lend<Result>(to: Borrowers, work: () => Promise<Result>): Promise<Result>
  end(): void
}

interface Queue {
  isTaken: boolean
  waiting: { kind: 'event' | 'action' | 'lender'; begin: () => void }[]
  /** Turns that are lent, and to whom. */
  lent: Map<object, Borrowers>
}

/**
 * Gives turns by key, in order of arrival. The runtime of agents keeps in variables of its module whether it is saving states, so events
 * at the same time in one isolate would lose states.
 */
export class Turns {
  readonly #queues = new Map<string, Queue>()

  /** The events and actions whose turn has not come. */
  get waiting(): number {
    const waiting = this.#queues.values().flatMap((queue) => queue.waiting)
    return waiting.filter(({ kind }) => kind !== 'lender').toArray().length
  }

  /** Resolves when the turn has come. */
  async take(key: string, kind: 'event' | 'action'): Promise<Turn> {
    const queue = this.#queues.get(key) ?? { isTaken: false, waiting: [], lent: new Map<object, Borrowers>() }
    this.#queues.set(key, queue)
    await this.#enter(key, queue, kind)
    return this.#open(key, queue)
  }

  #enter(key: string, queue: Queue, kind: 'event' | 'action' | 'lender'): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    queue.waiting.push({ kind, begin: resolve })
    this.#beginNext(key, queue)
    return promise
  }

  #beginNext(key: string, queue: Queue): void {
    const { waiting, lent } = queue
    if (queue.isTaken) return
    const isForAll = lent.values().every((to) => to === 'all')
    const lender = waiting.findIndex(({ kind }) => kind === 'lender')
    const next = lender >= 0 ? lender : waiting.findIndex(({ kind }) => kind === 'action' || isForAll)
    if (next >= 0) {
      queue.isTaken = true
      waiting.splice(next, 1)[0]!.begin()
    } else if (waiting.length === 0 && lent.size === 0) this.#queues.delete(key)
  }

  #open(key: string, queue: Queue): Turn {
    const turn = {}
    let [isHeld, isOver] = [true, false]
    let returning: Promise<void> | undefined
    const release = () => {
      isHeld = false
      queue.isTaken = false
      this.#beginNext(key, queue)
    }
    /** Works for which actions have to run: the event waits for them, so they would wait for its turn in vain. */
    const works = new Set<Promise<unknown>>()
    const takeBack = async (): Promise<void> => {
      if (works.size > 0) queue.lent.set(turn, 'actions')
      await Promise.allSettled(works)
      if (isOver) return
      await this.#enter(key, queue, 'lender')
      if (isOver) return release()
      if (works.size > 0) {
        // They have begun meanwhile.
        queue.lent.set(turn, 'actions')
        release()
        return takeBack()
      }
      queue.lent.delete(turn)
      isHeld = true
      returning = undefined
    }
    return {
      async lend(to, work) {
        // Another work of the same event may have lent it already.
        if (isHeld) {
          queue.lent.set(turn, to)
          release()
        }
        const result = work()
        if (to === 'actions') works.add(result)
        try {
          return await result
        } finally {
          works.delete(result)
          if (!isHeld && !isOver) await (returning ??= takeBack())
        }
      },
      end: () => {
        isOver = true
        queue.lent.delete(turn)
        if (isHeld) release()
        else this.#beginNext(key, queue)
      },
    }
  }
}
