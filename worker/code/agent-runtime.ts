import type { OwnLimits } from '#shared/config/code-limits.ts'

/** The name of a tag that the published runtime of agents writes. No minifier changes it. */
const syncTag = 'adkSyncTs'

/** Whether a bundle of the public SDK is an agent of the published runtime (`@botpress/runtime`). */
export function isAgent(script: string): boolean {
  return script.includes(syncTag)
}

/**
 * Limits of an agent. Its bundle of 13 MB takes 90 MB of heap, and 1.5 s of processor time to load. Its runtime leaves the last
 * 15 s of an event unused by workflows, so these would not go on in less.
 */
export const agentLimits = {
  wallMilliseconds: 60_000,
  memoryMegabytes: 128,
  loadMilliseconds: 10_000,
  cpuMilliseconds: 5000,
} satisfies OwnLimits

/** The variable by which the runtime runs as a deployed bot, not on its author's machine. */
export const agentEnvironment = { AWS_LAMBDA_FUNCTION_NAME: 'isobot' }

/** The turn of an event. */
export interface Turn {
  /** Lets actions of the same key have turns while the work is in progress, which may wait for them. */
  lend<Result>(work: () => Promise<Result>): Promise<Result>
  end(): void
}

interface Queue {
  waiting: { isAction: boolean; begin: (turn: Turn) => void }[]
  /** Turns that have not ended. */
  held: number
  /** Those of them that are lent. */
  lent: number
}

/**
 * Gives turns by key, in order of arrival. The runtime of agents keeps unsaved states in variables of its module, so events
 * at the same time in one isolate would lose states.
 */
export class Turns {
  readonly #queues = new Map<string, Queue>()

  /** Resolves when the turn has come: that of an action comes also while all turns that have not ended are lent. */
  async take(key: string, isAction: boolean): Promise<Turn> {
    const queue = this.#queues.get(key) ?? { waiting: [], held: 0, lent: 0 }
    this.#queues.set(key, queue)
    const { promise, resolve } = Promise.withResolvers<Turn>()
    queue.waiting.push({ isAction, begin: resolve })
    this.#beginNext(key, queue)
    return promise
  }

  #beginNext(key: string, queue: Queue): void {
    const { waiting, held, lent } = queue
    const index = waiting.findIndex(({ isAction }) => held === 0 || (isAction && held === lent))
    if (index >= 0) {
      queue.held += 1
      waiting.splice(index, 1)[0]!.begin(this.#open(key, queue))
    } else if (held === 0) this.#queues.delete(key)
  }

  #open(key: string, queue: Queue): Turn {
    let isHeld = true
    let lendings = 0
    return {
      lend: async (work) => {
        lendings += 1
        if (isHeld && lendings === 1) queue.lent += 1
        this.#beginNext(key, queue)
        try {
          return await work()
        } finally {
          lendings -= 1
          if (isHeld && lendings === 0) queue.lent -= 1
        }
      },
      end: () => {
        isHeld = false
        queue.held -= 1
        if (lendings > 0) queue.lent -= 1
        this.#beginNext(key, queue)
      },
    }
  }
}
