import type { Context } from '#shared/context.ts'
import { ApiError, notFound } from '#shared/errors.ts'
import type { listening } from '#shared/models/listening.ts'
import type { Infer } from '#shared/schema.ts'
import { findInstallationByWebhook } from '#shared/store/installations.ts'
import { changedInstallations, checkListener, goneListeners } from '#shared/store/listeners.ts'
import { encryptionKeyId } from '#shared/integrations/user-keys.ts'
import type { Installation } from '#shared/models/tables.ts'

/** The answer of `listenConversation`. */
export type Listening = Infer<typeof listening>

/** A stream, as the guard sees it. */
export interface GuardedStream {
  listening: Listening
  end(): void
}

/**
 * Ends streams whose listener may no longer listen: the chat's encryption key was changed, the chat was disabled or
 * deleted, the user was deleted, or the key has expired. A stream is guarded before its rights are checked once more, so that no change
 * between the two goes unnoticed.
 */
export interface StreamGuard {
  /** @throws ApiError when the listener has lost its rights since the request was authenticated */
  admit(stream: GuardedStream): Promise<void>
  release(stream: GuardedStream): void
  close(): void
}

/** Interval at which all streams are checked: bounds the delay after a lost signal. */
const recheckMilliseconds = 20_000

interface Guarded {
  stream: GuardedStream
  /** The installation's `updated_at` at the last check; undefined until the stream is admitted. */
  updatedAt?: Date
}

export function openStreamGuard(context: Context): StreamGuard {
  const { config, db, dependencies, installations, log, signals } = context
  const guarded = new Map<GuardedStream, Guarded>()

  const isSigned = ({ listening }: GuardedStream, installation: Installation | undefined) =>
    installation?.enabled === true && encryptionKeyId(installation, config.secret) === listening.encryptionKeyId

  async function recheck(webhookId: string): Promise<void> {
    const streams = [...guarded.values()].filter(({ stream }) => stream.listening.webhookId === webhookId)
    if (streams.length === 0) return
    const installation = await findInstallationByWebhook(db, config.secret, webhookId)
    for (const entry of streams) {
      if (!isSigned(entry.stream, installation)) entry.stream.end()
      else if (installation) entry.updatedAt = installation.updated_at
    }
  }

  async function recheckAll(): Promise<void> {
    const entries = [...guarded.values()].filter(({ updatedAt }) => updatedAt !== undefined)
    for (const { stream } of entries) if ((stream.listening.expiresAt ?? Infinity) <= Date.now()) stream.end()
    // Streams of one installation were checked at different times, the later ones perhaps after a change.
    const newestFirst = entries.toSorted((a, b) => b.updatedAt!.getTime() - a.updatedAt!.getTime())
    const seen = new Map(newestFirst.map(({ stream, updatedAt }) => [stream.listening.webhookId, updatedAt!]))
    for (const webhookId of await changedInstallations(db, seen)) await recheck(webhookId)
    const indexes = await goneListeners(
      db,
      entries.map(({ stream }) => stream.listening),
    )
    for (const index of indexes) entries[index]!.stream.end()
  }

  function attempt(work: () => Promise<void>): void {
    if (guarded.size === 0 || !dependencies.database.isUp()) return
    work().catch((error: unknown) => log.warn({ err: error }, 'Checking the streams failed; retrying'))
  }
  const recheckSoon = () => attempt(recheckAll)
  const timer = setInterval(recheckSoon, recheckMilliseconds)
  const ends = [
    installations.onChange((webhookId) => attempt(() => recheck(webhookId))),
    signals.onGap(recheckSoon),
    dependencies.database.onReturn(recheckSoon),
  ]

  async function assertAllowed(entry: Guarded): Promise<void> {
    const { listening } = entry.stream
    const installation = await installations.find(listening.webhookId)
    if (!isSigned(entry.stream, installation)) {
      throw new ApiError('Unauthorized', 'The x-user-key is no longer valid: the chat’s encryption key was changed')
    }
    const { is_user: isUser, is_participant: isParticipant } = await checkListener(db, listening)
    if (!isUser) throw notFound('User', 'the user has just been deleted')
    if (!isParticipant) throw new ApiError('Forbidden', 'You are not a participant of this conversation')
    entry.updatedAt = installation!.updated_at
  }

  return {
    async admit(stream) {
      const entry = { stream }
      guarded.set(stream, entry)
      try {
        await assertAllowed(entry)
      } catch (error) {
        guarded.delete(stream)
        throw error
      }
    },
    release(stream) {
      guarded.delete(stream)
    },
    close() {
      clearInterval(timer)
      for (const end of ends) end()
    },
  }
}
