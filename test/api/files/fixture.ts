import { contentAddress, uploadAddress } from '#shared/files/file-addresses.ts'
import { newWebhookId } from '#shared/ids.ts'
import type { FileRow } from '#shared/models/tables.ts'
import type { Platform } from '../../support/platform.ts'

/** A file whose content has not come yet. */
export interface TestFile {
  id: string
  uploadUrl: string
  /** Its present address. */
  url(): Promise<string>
  row(): Promise<FileRow | undefined>
}

let count = 0

/** Inserts a file as an upsert does. */
export async function insertFile(
  { context }: Platform,
  botId: string,
  { key = 'folder/hello.txt', contentType = 'text/plain', isPublic = false } = {},
): Promise<TestFile> {
  const { db, config } = context
  const id = `file_test_${(count += 1)}`
  const row = {
    id,
    bot_id: botId,
    // A key is unique in its bot.
    key: `${count}/${key}`,
    content_type: contentType,
    access_policies: isPublic ? ['public_content'] : [],
    public_id: newWebhookId(),
  }
  const table = () => db('files')
  await table().insert(row as object)
  return {
    id,
    uploadUrl: uploadAddress(config, { fileId: id, generation: 1 }),
    url: async () => contentAddress(config, (await table().where({ id }).first())!),
    row: () => table().where({ id }).first(),
  }
}
