import { glob, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import {
  oneMessage,
  messageBatch,
  deliveryInsert,
  incomingEventInsert,
  messageInsert,
} from '#shared/store/insert-rows.ts'

/** The source files of the store in which a text stands, each as often as it does. */
async function filesWith(text: string): Promise<string[]> {
  const directory = new URL('../../../shared/store/', import.meta.url)
  const found: string[] = []
  for await (const file of glob('**/*.ts', { cwd: directory.pathname })) {
    const source = await readFile(new URL(file, directory), 'utf8')
    found.push(
      ...source
        .split(text)
        .slice(1)
        .map(() => file),
    )
  }
  return found
}

test.each(['events', 'messages'])('the columns of %s are written down in one statement', async (table) => {
  expect(await filesWith(`insert into ${table} `)).toEqual(['insert-rows.ts'])
})

const columns = (sql: string) => /\((.*?)\)/.exec(sql)?.[1]

test('one message and several are inserted into the same columns', () => {
  for (const insert of [
    incomingEventInsert,
    deliveryInsert,
    (of: typeof oneMessage) => messageInsert(of, ':direction'),
  ]) {
    expect(columns(insert(oneMessage))).toMatch(/^id, bot_id, /)
    expect(columns(insert(oneMessage))).toBe(columns(insert(messageBatch)))
  }
})
