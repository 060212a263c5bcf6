import type { Context } from '#shared/context.ts'
import { ApiError } from '#shared/errors.ts'
import { allowedLimits } from '#shared/config/limit-settings.ts'
import { limitRules } from '#shared/config/code-limits.ts'
import { maxBodyBytes, maxWholeBytes } from '#shared/models/webhook.ts'
import { findOwnLimits } from '#shared/store/bots.ts'
import { findCodeKind } from '#shared/store/code.ts'
import type { Installation } from '#shared/models/tables.ts'
import { megabyte } from '#shared/units.ts'

/** Bytes that every webhook accepts, independent of its code and its bot's limits. */
const alwaysAcceptedBytes = maxWholeBytes(limitRules.memoryMegabytes.range[0])

/** Maximum body size of a webhook. */
export interface BodyLimit {
  /** @throws ApiError `PayloadTooLarge` */
  check(bytes: number): Promise<void>
}

/**
 * The limit of an installation's webhook. Native code reads bodies in parts, so its limit is the largest body; bundles
 * of the public SDK receive a body in one piece, so theirs is what their isolate can hold. The look-up is made only for
 * bodies above the size that every webhook accepts.
 */
export function bodyLimitOf(context: Context, installation: Installation): BodyLimit {
  let maxBytes: number | undefined
  return {
    async check(bytes) {
      if (bytes <= alwaysAcceptedBytes) return
      maxBytes ??= await findMaxBytes(context, installation)
      if (bytes <= maxBytes) return
      const size = `${Math.floor(maxBytes / megabyte)} MB`
      const reason = maxBytes < maxBodyBytes ? ', whose code receives the body as a whole' : ''
      throw new ApiError('PayloadTooLarge', `The body is larger than ${size}, the maximum of this webhook${reason}`)
    },
  }
}

async function findMaxBytes(
  { db, config }: Context,
  { bot_id: botId, integration_id: id }: Installation,
): Promise<number> {
  const kind = id === null ? undefined : await findCodeKind(db, id)
  if (kind !== 'sdk') return maxBodyBytes
  const { memoryMegabytes } = allowedLimits(config.sandbox, await findOwnLimits(db, botId))
  return Math.min(maxWholeBytes(memoryMegabytes), maxBodyBytes)
}
