import { Readable } from 'node:stream'
import { notFound } from '../errors.ts'
import type { Database } from '../store/database.ts'
import { copyParts, deleteParts, insertPart, readPart } from '../store/file-objects.ts'
import { writeParts } from '../store/parts.ts'
import type { ByteRange, ObjectStore } from './object-store.ts'

/**
 * The size of each part of an object but the last (docs/decisions/0041). It must not change: ranges of stored objects are
 * found by it.
 */
export const objectPartBytes = 512 * 1024

/** Parts that one statement copies or deletes: it takes some hundreds of milliseconds. */
const batchSize = 32

/** Stores objects as rows. */
export function postgresObjectStore(db: Database): ObjectStore {
  return {
    async write(id, content) {
      await writeParts(content, objectPartBytes, (part, bytes) => insertPart(db, id, part, bytes))
    },

    read: (object, range) => Readable.from(readParts(db, object, range), { objectMode: false }),

    async copy({ id, size }, to) {
      const parts = Math.ceil(size / objectPartBytes)
      for (let first = 0; first < parts; first += batchSize) {
        const count = Math.min(batchSize, parts - first)
        if ((await copyParts(db, { from: id, to, first, count })) !== count) throw removed(id)
      }
    },

    async remove(id) {
      while ((await deleteParts(db, id, batchSize)) === batchSize);
    },
  }
}

async function* readParts(
  db: Database,
  { id, size }: { id: string; size: number },
  { start, end }: ByteRange = { start: 0, end: size - 1 },
): AsyncGenerator<Buffer> {
  for (let position = start; position <= end;) {
    const part = Math.floor(position / objectPartBytes)
    const startInPart = position - part * objectPartBytes
    const length = Math.min(objectPartBytes - startInPart, end + 1 - position)
    const bytes = await readPart(db, { objectId: id, part, start: startInPart, length })
    if (bytes?.length !== length) throw removed(id)
    yield bytes
    position += length
  }
}

function removed(id: string): Error {
  return notFound(`Content '${id}'`, 'it was removed while it was read')
}
