import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { S3Settings, StoreName } from '../config/s3-settings.ts'
import type { Context } from '../context.ts'
import { ApiError, isOutage, notFound } from '../errors.ts'
import { newId } from '../ids.ts'
import { completeObject, deleteObject, findStore, insertObject, type StoredObject } from '../store/file-objects.ts'
import type { ByteRange, ObjectStore } from './object-store.ts'
import { objectPartBytes, postgresObjectStore } from './postgres-object-store.ts'
import { s3ObjectStore, s3PartBytes, s3StreamBytes } from './s3-object-store.ts'

/** The parts that objects need. */
export type ObjectContext = Pick<Context, 'config' | 'db' | 'log'>

/** Upper bounds of the writing of an object. */
interface WriteLimits {
  /** Upper bound of its size in bytes. */
  limit: number
  /** Its size, where it is known in advance. */
  length?: number | undefined
  /** The error of larger contents. */
  beyond?: () => Error
  /** Its store, unless it is the configured one. */
  store?: StoreName
}

/**
 * Writes a stream to a new object. On an error the object is removed again, or later by the sweep.
 *
 * @param botId the bot whose file it will be
 * @returns the object, which nothing refers to yet: the sweep removes it unless a file does within an hour
 * @throws ApiError `LimitExceeded` at the first byte beyond the limit, or the error of the stream
 */
export async function writeObject(
  context: ObjectContext,
  botId: string,
  content: AsyncIterable<Uint8Array>,
  limits: WriteLimits,
): Promise<StoredObject> {
  const { length, store = configuredStore(context) } = limits
  return makeObject(context, botId, store, async (id) => {
    const measure = measured(content, limits)
    await storeOf(context, store).write(id, measure.content, length)
    return measure.result()
  })
}

/**
 * Copies an object to a new one, in the store that is configured now.
 *
 * @param botId the bot whose file it will be
 * @returns the new object, as of `writeObject`
 */
export async function copyObject(context: ObjectContext, source: StoredObject, botId: string): Promise<StoredObject> {
  const { size, sha256 } = source
  const store = configuredStore(context)
  return makeObject(context, botId, store, async (id) => {
    if (source.store === store) await storeOf(context, store).copy(source, id)
    else await storeOf(context, store).write(id, readObject(context, source), size)
    return { size, sha256 }
  })
}

/**
 * Reads an object, no faster than the reader consumes it.
 *
 * @returns a stream that fails when the object is removed meanwhile
 */
export function readObject(context: ObjectContext, object: StoredObject, range?: ByteRange): Readable {
  return storeOf(context, object.store).read(object, range)
}

/**
 * Removes an object that no file refers to any more, after the commit that took the reference away. Never throws: the
 * sweep removes the objects for which this fails.
 */
export async function removeObject(context: ObjectContext, id: string): Promise<void> {
  try {
    const store = await findStore(context.db, id)
    if (store) await remove(context, id, store)
  } catch (error) {
    context.log.warn({ err: error, objectId: id }, 'Removing the content of a file failed; the sweep will remove it')
  }
}

/**
 * Removes an object whose file did not get it, because the transaction failed. Where its outcome is unknown, as when the
 * connection ended during the commit, the file may have it: then the sweep decides.
 *
 * @param error of the transaction
 */
export async function discardObject(context: ObjectContext, id: string, error: unknown): Promise<void> {
  if (error instanceof ApiError && !isOutage(error)) await removeObject(context, id)
}

async function remove(context: ObjectContext, id: string, store: StoreName): Promise<void> {
  await storeOf(context, store).remove(id)
  await deleteObject(context.db, id)
}

/** The bytes that writing an object holds in memory. */
export function heldBytes(context: Pick<Context, 'config'>, length = Infinity): number {
  if (configuredStore(context) === 'postgres') return Math.min(length, 2 * objectPartBytes)
  return length === Infinity ? 2 * s3PartBytes : Math.min(length, s3StreamBytes)
}

/** The store of new objects. */
export function configuredStore({ config }: Pick<Context, 'config'>): StoreName {
  return config.files.store
}

/** Of each configuration, because it keeps the keys with which it signs. */
const s3Stores = new WeakMap<S3Settings, ObjectStore>()

function storeOf({ config, db }: ObjectContext, name: StoreName): ObjectStore {
  if (name === 'postgres') return postgresObjectStore(db)
  const { s3 } = config
  if (!s3) throw new Error('This content is in a bucket: set S3_BUCKET and its companions again, or move it back first')
  const known = s3Stores.get(s3)
  if (known) return known
  const store = s3ObjectStore(s3)
  s3Stores.set(s3, store)
  return store
}

async function makeObject(
  context: ObjectContext,
  botId: string,
  store: StoreName,
  write: (id: string) => Promise<Pick<StoredObject, 'size' | 'sha256'>>,
): Promise<StoredObject> {
  const id = newId('object')
  await insertObject(context.db, { id, botId, store })
  try {
    const written = await write(id)
    if (!(await completeObject(context.db, id, written))) throw notFound(`Content '${id}'`, 'writing it took too long')
    return { id, store, ...written }
  } catch (error) {
    // Its row may be gone, so the store is not looked up.
    await remove(context, id, store).catch((cause: unknown) => {
      context.log.warn({ err: cause, objectId: id }, 'Removing an incomplete content failed; the sweep will remove it')
    })
    throw error
  }
}

/** Counts and hashes a stream, up to its limit. */
function measured(content: AsyncIterable<Uint8Array>, { limit, length, beyond = () => tooLarge(limit) }: WriteLimits) {
  const hash = createHash('sha256')
  let size = 0
  async function* pass(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      size += chunk.length
      if (size > limit) throw beyond()
      hash.update(chunk)
      yield chunk
    }
    if (length !== undefined && size !== length) {
      throw new ApiError('InvalidPayload', `The content has ${size} bytes, not ${length} as announced`)
    }
  }
  return { content: pass(), result: () => ({ size, sha256: hash.digest('hex') }) }
}

function tooLarge(limit: number): ApiError {
  return new ApiError('LimitExceeded', `The content is larger than ${limit} bytes, its limit`)
}
