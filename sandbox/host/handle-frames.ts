import type { Channel } from '../protocol/channel.ts'
import type { LogLine } from '../protocol/contract.ts'
import type { Handle, Part } from './handle.ts'
import { toFailureReason, type FromProcess, type ToProcess } from '../protocol/protocol.ts'
import type { FrameQuota } from './frame-quota.ts'

/** What a process says of a job. */
type JobFrame = Extract<
  FromProcess,
  { type: 'call' | 'fetch' | 'abortFetch' | 'pull' | 'cancel' | 'log' | 'done' | 'failed' | 'interrupted' }
>

export interface HandleFramesOptions {
  quota: FrameQuota
  channel: Channel<ToProcess>
  /** The job is over: nothing more is heard of it. */
  ended(job: Handle): void
  isDead(): boolean
}

/** More than the process writes, which cuts them too. */
const errorCharacters = { name: 100, message: 4000, stack: 20_000, hook: 200, reason: 500 }
const lineCharacters = 32_768

/** Passes on to a job what its process says of it, as far as it may say that. */
export class HandleFrames {
  readonly #options: HandleFramesOptions

  constructor(options: HandleFramesOptions) {
    this.#options = options
  }

  /** @returns false when the frame is beyond what the job may send, and was dropped */
  receive(job: Handle, frame: JobFrame): boolean {
    switch (frame.type) {
      case 'call':
        if (!this.#options.quota.call(job, frame.call, frame.request)) return false
        void this.#answer(job, frame.call, frame.request)
        return true
      case 'fetch':
        if (!this.#options.quota.fetch(job, frame.fetch, frame.request)) return false
        void this.#fetch(job, frame.fetch, frame.request)
        return true
      case 'abortFetch':
        if (!this.#options.quota.abortFetch(job)) return false
        job.abortFetch(frame.fetch)
        return true
      case 'pull':
        return job.pull(frame, (stream, part) => this.#sendPart(job, stream, part))
      case 'cancel':
        return job.cancel(frame.stream)
      case 'log':
        return frame.message.length <= lineCharacters && job.log(toLine(frame))
      case 'done':
        this.#options.ended(job)
        job.done(frame.result, frame.state, toMilliseconds(frame.cpu, job), frame.hooks)
        return true
      case 'interrupted':
        this.#options.ended(job)
        job.interrupt(frame.reason.slice(0, errorCharacters.reason), toMilliseconds(frame.cpu, job))
        return true
      case 'failed':
        this.#options.ended(job)
        this.#fail(job, frame)
        return true
    }
  }

  #fail(job: Handle, frame: Extract<JobFrame, { type: 'failed' }>): void {
    const cut = (field: 'name' | 'message' | 'stack' | 'hook') => frame[field].slice(0, errorCharacters[field])
    const error = { name: cut('name'), message: cut('message'), ...(frame.stack === '' ? {} : { stack: cut('stack') }) }
    const hook = frame.hook === '' ? {} : { hook: cut('hook') }
    job.fail({ reason: toFailureReason(frame.reason), error, ...hook }, toMilliseconds(frame.cpu, job), frame.hooks)
  }

  async #answer(job: Handle, call: string, request: string): Promise<void> {
    const { channel, quota, isDead } = this.#options
    // A process that asks and does not read the answers has them pile up over there, and not here.
    const backlog = channel.drained()
    if (backlog !== undefined) await backlog
    // Without a backlog it is made at once: what a run asked for before it failed is done, whatever comes in between.
    if (isDead() || job.ended) return
    const reply = await job.answer(request)
    quota.answered(job)
    if (isDead() || job.ended) return
    if (typeof reply === 'string') channel.send({ type: 'reply', run: job.id, call, reply })
    else channel.send({ type: 'interrupt', run: job.id, reason: reply.interrupted })
  }

  async #fetch(job: Handle, fetch: string, request: string): Promise<void> {
    const { channel, isDead } = this.#options
    const backlog = channel.drained()
    if (backlog !== undefined) await backlog
    if (isDead() || job.ended) return
    const fetched = await job.fetch(fetch, request)
    if (!isDead() && !job.ended) channel.send({ type: 'fetched', run: job.id, fetch, ...fetched })
  }

  #sendPart(job: Handle, stream: string, part: Part): Promise<void> | undefined {
    const { channel, isDead } = this.#options
    if (isDead() || job.ended) return undefined
    channel.send({ type: 'part', run: job.id, stream, ...part })
    return channel.drained()
  }
}

/** No run takes more processor time than it may take time. */
function toMilliseconds(cpu: number, { limits }: Handle): number {
  return Number.isFinite(cpu) && cpu > 0 ? Math.min(cpu, limits.wallMilliseconds) : 0
}

const levels: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies LogLine['level'][]
const timestampForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A time that is none would make the statement fail that writes many lines of many bots. */
function toLine({ timestamp, level, message }: Extract<JobFrame, { type: 'log' }>): LogLine {
  const isTime = timestampForm.test(timestamp) && !Number.isNaN(Date.parse(timestamp))
  return {
    timestamp: isTime ? timestamp : new Date().toISOString(),
    level: levels.includes(level) ? (level as LogLine['level']) : 'info',
    message,
  }
}
