import type { Context } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import {
  bindingTo,
  encryptionKeyOf,
  isSignedBySite,
  signUserKey,
  verifyVisitorKey,
} from '../../integrations/user-keys.ts'
import type { Installation, UserRow } from '../../models/tables.ts'
import type { UserKey } from '../../models/user-key.ts'
import type { Visitor } from '../../rpc/caller.ts'
import { findKeyHolder, insertUser } from '../../store/users.ts'
import { assertExternalId } from '../chat/external-ids.ts'

/** A visitor who has entered the web chat. */
interface Entered {
  user: UserRow
  key: UserKey
  /** The key as the client sends it. */
  userKey: string
}

/**
 * Finds the visitor of a key. A missing, invalid or outdated key gets a new visitor with a key of the platform; where a
 * site signs the keys, a valid one is required, and its visitor is created if absent.
 *
 * @throws ApiError `Unauthorized`
 */
export async function enter(context: Context & { caller: Visitor }, givenKey: string | undefined): Promise<Entered> {
  const { db, config, caller } = context
  const { installation } = caller
  const isSigned = isSignedBySite(installation)
  if (givenKey === undefined) {
    if (isSigned) throw new ApiError('Unauthorized', 'This web chat needs a key of the site: send it as x-user-key')
    return createVisitor(context)
  }
  const key = await verifyVisitorKey(installation, config.secret, givenKey).catch((error: unknown) => {
    if (!isSigned && error instanceof ApiError && error.type === 'Unauthorized') return undefined
    throw error
  })
  if (!key) return createVisitor(context)
  const user =
    (await findKeyHolder(db, installation.id, key)) ?? (isSigned ? await createNamed(context, key) : undefined)
  return user ? { user, key, userKey: givenKey } : createVisitor(context)
}

async function createVisitor({
  db,
  config,
  caller: { installation },
}: Context & { caller: Visitor }): Promise<Entered> {
  const user = await insertUser(db, { id: newId('user'), ...ofInstallation(installation) })
  if (!user) throw new ApiError('Internal', 'The visitor was not stored')
  const binding = bindingTo(installation, config.secret, user.id)
  const userKey = await signUserKey(encryptionKeyOf(installation, config.secret), user.id, binding)
  return { user, key: { externalUserId: user.id, boundUserId: user.id }, userKey }
}

/** Creates the user whom a key of the site names; another request may have done it. */
async function createNamed(
  { db, caller: { installation } }: Context & { caller: Visitor },
  key: UserKey,
): Promise<UserRow | undefined> {
  const { externalUserId } = key
  assertExternalId(externalUserId, 'The id in the key')
  const user = await insertUser(db, { id: newId('user'), ...ofInstallation(installation), externalId: externalUserId })
  return user ?? findKeyHolder(db, installation.id, key)
}

function ofInstallation({ id, bot_id: botId }: Installation) {
  return { botId, installationId: id }
}
