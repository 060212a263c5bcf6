import type { Context } from '../context.ts'
import { toFile, type File } from '../models/file.ts'
import type { FileRow } from '../models/tables.ts'
import { contentAddress } from './file-addresses.ts'

/** A file as its callers see it, with an address of its content. */
export function showFile({ config }: Pick<Context, 'config'>, row: FileRow): File {
  return toFile(row, contentAddress(config, row))
}
