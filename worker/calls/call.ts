import type { FailureReason, Json, RunRequest } from '#sandbox/protocol/contract.ts'
import type { RetryPolicy } from '#shared/models/tables.ts'
import type { Code } from '../code/bundles.ts'

/** A call of code in the sandbox. */
export interface Call {
  code: Code
  /** The sandbox's task, without the fields that depend on the run. */
  task: WithoutPosition<RunRequest['task']>
  /** Byte streams that the code may read in parts, by name. */
  sources?: NonNullable<RunRequest['sources']>
  /** Interprets the code's answer; without it, the answer is the result. */
  read?: (answer: Json) => Reading
  /** How a failed call is retried; null: not at all. */
  retry: RetryPolicy | null
}

type WithoutPosition<Task> = Task extends unknown ? Omit<Task, 'streamPrefix' | 'within'> : never

/** The interpretation of an answer of code. */
export interface Reading {
  result?: Json
  /** The reason of a failure, and whether a retry may help. */
  failure?: { message: string; mayPass: boolean }
}

/** A call that cannot be made because of its own code or request. The event fails. */
export class NotRunnable extends Error {
  override name = 'NotRunnable'
  readonly reason: FailureReason

  constructor(reason: FailureReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/** The event has no recipient. It is ignored, with a line in the bot's log. */
export class NotDeliverable extends Error {
  override name = 'NotDeliverable'
}

/**
 * Retries of integrations and of bots made with the public SDK. It does not apply to calls whose caller waits for the
 * answer: the caller decides whether to retry.
 */
export const platformRetry: RetryPolicy = { attempts: 4, backoff: 1000 }
