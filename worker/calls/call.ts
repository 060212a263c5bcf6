import type { FailureReason, Json, RunRequest } from '#sandbox/protocol/contract.ts'
import type { RetryPolicy } from '#shared/models/tables.ts'
import type { Code } from '../execution/bundles.ts'

/** Something that code is asked to do. */
export interface Call {
  code: Code
  /** What the sandbox is to run; which run it belongs to is added when it is run. */
  task: WithoutPlace<RunRequest['task']>
  /** What the code may read in parts, by name. */
  sources?: NonNullable<RunRequest['sources']>
  /** Says what an answer of the code means; without it, the answer is the result. */
  read?: (answer: Json) => Reading
  /** Whether it is tried again when it fails. */
  retry: RetryPolicy | null
}

type WithoutPlace<Task> = Task extends unknown ? Omit<Task, 'streamPrefix' | 'within'> : never

/** What an answer of code means. */
export interface Reading {
  result?: Json
  /** Why it is none of success, and whether trying again may help. */
  failure?: { message: string; mayPass: boolean }
}

/** A call that cannot be made, by the doing of those whom it is for. */
export class NotRunnable extends Error {
  override name = 'NotRunnable'
  readonly reason: FailureReason

  constructor(reason: FailureReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/** There is nobody to call. It is said in the bot's log. */
export class NotDeliverable extends Error {
  override name = 'NotDeliverable'
}

/**
 * How integrations and bots made with the public SDK are tried again, unless somebody waits for the answer: who waits
 * can try again too, and knows whether to.
 */
export const platformRetry: RetryPolicy = { attempts: 4, backoff: 1000 }
