import type { Handle } from './handle.ts'

/** Useless frames within a heartbeat that say that nobody keeps order in the process any more. */
const maxUselessFrames = 1000
/** A frame counts once, and once more for each of these. */
const bytesOfOne = 4096

interface Spent {
  calls: number
  callsInFlight: number
  fetches: number
  abortedFetches: number
  asksCode: boolean
}

/**
 * Counts what a sandbox process sends. The kernels count too, and the process passes on only what they say of their own
 * runs: so a frame beyond the limits is refused, and a flood of them means that something escaped.
 */
export class FrameQuota {
  readonly #spent = new Map<string, Spent>()
  #useless = 0

  begin(job: Handle): void {
    this.#spent.set(job.id, { calls: 0, callsInFlight: 0, fetches: 0, abortedFetches: 0, asksCode: true })
  }

  end(job: Handle): void {
    this.#spent.delete(job.id)
  }

  /** Whether a job may make this call; it is under way from then on. */
  call(job: Handle, call: string, request: string): boolean {
    const spent = this.#spent.get(job.id)
    const { hostCalls, hostCallsAtOnce, hostCallCharacters } = job.limits
    if (spent === undefined || call.length > nameCharacters || request.length > hostCallCharacters) return false
    if (spent.calls >= hostCalls || spent.callsInFlight >= hostCallsAtOnce) return false
    spent.calls += 1
    spent.callsInFlight += 1
    return true
  }

  answered(job: Handle): void {
    const spent = this.#spent.get(job.id)
    if (spent !== undefined) spent.callsInFlight -= 1
  }

  /** Whether a job may make this request; how many at once, whoever makes them looks at. */
  fetch(job: Handle, fetch: string, request: string): boolean {
    const spent = this.#spent.get(job.id)
    if (spent === undefined || fetch.length > nameCharacters || request.length > job.limits.fetchCharacters)
      return false
    if (spent.fetches >= job.limits.fetches) return false
    spent.fetches += 1
    return true
  }

  /** Whether a job may take a request back. */
  abortFetch(job: Handle): boolean {
    const spent = this.#spent.get(job.id)
    if (spent === undefined || spent.abortedFetches >= spent.fetches) return false
    spent.abortedFetches += 1
    return true
  }

  /** Whether the code of a job may still be asked for: its isolate is loaded once, if at all. */
  code(job: Handle): boolean {
    const spent = this.#spent.get(job.id)
    if (spent?.asksCode !== true) return false
    spent.asksCode = false
    return true
  }

  /** A frame that changes nothing has come. True when there were too many. */
  useless(bytes: number): boolean {
    this.#useless += 1 + bytes / bytesOfOne
    return this.#useless > maxUselessFrames
  }

  beat(): void {
    this.#useless = 0
  }
}

/** Of the names that kernels give to their calls and requests. */
const nameCharacters = 32
