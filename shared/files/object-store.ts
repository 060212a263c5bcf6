import type { Readable } from 'node:stream'

/** Bytes of an object, both ends included. */
export interface ByteRange {
  start: number
  end: number
}

/** Where the bytes of objects are stored. An object is written once, and never changes. */
export interface ObjectStore {
  /**
   * Writes the bytes of a new object, no faster than the store accepts them.
   *
   * @param length the number of bytes, where it is known in advance
   * @throws the error of the stream; the object may then have some of its bytes
   */
  write(id: string, content: AsyncIterable<Uint8Array>, length?: number): Promise<void>
  /**
   * Reads bytes, no faster than the reader consumes them.
   *
   * @param object with the number of its bytes
   * @returns a stream that fails when the object has been removed
   */
  read(object: { id: string; size: number }, range?: ByteRange): Readable
  /** Copies all bytes of an object to a new one of this store. */
  copy(object: { id: string; size: number }, to: string): Promise<void>
  /** Removes the bytes of an object, whole or not. It is no error when there are none. */
  remove(id: string): Promise<void>
}
