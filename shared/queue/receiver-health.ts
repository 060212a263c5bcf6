import type { IQueueBackend } from 'bullmq'

/** The calls by which a worker gets jobs: it waits for one, and takes it. */
const calls = ['waitForJob', 'moveToActive'] as const

/** A call that has failed for so long, in all its repetitions, is no incident. */
const patienceMilliseconds = 2000

/** Knows whether a worker gets jobs from its queue, by the last call of each kind. */
export class ReceiverHealth {
  /** When the calls that fail have begun to, by `performance.now()`. */
  readonly #failingSince = new Map<(typeof calls)[number], number>()

  isUp(): boolean {
    return this.#failingSince.values().every((since) => performance.now() - since < patienceMilliseconds)
  }

  /** Makes back ends whose calls are watched. */
  watching<Parameters extends unknown[], Backend extends Pick<IQueueBackend, (typeof calls)[number]>>(
    create: (...parameters: Parameters) => Backend,
  ): (...parameters: Parameters) => Backend {
    return (...parameters) => {
      const backend = create(...parameters)
      backend.waitForJob = this.#watched('waitForJob', backend.waitForJob.bind(backend))
      backend.moveToActive = this.#watched('moveToActive', backend.moveToActive.bind(backend))
      return backend
    }
  }

  #watched<Parameters extends unknown[], Result>(
    call: (typeof calls)[number],
    act: (...parameters: Parameters) => Promise<Result>,
  ): (...parameters: Parameters) => Promise<Result> {
    return async (...parameters) => {
      try {
        const result = await act(...parameters)
        this.#failingSince.delete(call)
        return result
      } catch (error) {
        this.#failingSince.set(call, this.#failingSince.get(call) ?? performance.now())
        throw error
      }
    }
  }
}
