import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openVectorMemory } from '#shared/embeddings/vector-memory.ts'
import { newId } from '#shared/ids.ts'
import { openDatabase, type Database } from '#shared/store/database.ts'
import { nearestPassages } from '#shared/store/nearest-passages.ts'
import { saveVectors } from '#shared/store/passage-vectors.ts'
import { insertPassages } from '#shared/store/passages.ts'
import { adoptVectorType, hasVectorType } from '#shared/store/vector-type.ts'
import { createDatabase, type TestDatabase } from '../../support/databases.ts'
import { createDatabaseWithPgvector } from '../../support/pgvector.ts'

const servers = {
  'PostgreSQL alone': { create: createDatabase, hasVectors: false },
  pgvector: { create: createDatabaseWithPgvector, hasVectors: true },
}

/** A vector of length 1 in a plane. */
const at = (degrees: number) =>
  Float32Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180))

describe.each(Object.entries(servers))('vectors on %s', { timeout: 60_000 }, (_, { create, hasVectors }) => {
  let database: TestDatabase
  let db: Database
  const bots = ['bot_a', 'bot_b']
  const memory = openVectorMemory(1024 * 1024)
  beforeAll(async () => {
    database = await create()
    db = openDatabase({ url: database.url, poolSize: 3, allowSelfSigned: false })
    const workspace = { id: newId('wkspace'), name: 'w' }
    await db('workspaces').insert(workspace)
    for (const id of bots) await db('bots').insert({ id, workspace_id: workspace.id, name: id })
    await addFile('bot_a', 'former.txt', [10], 'm')
    await adoptVectorType(db)
    await db('files').where({ key: 'former.txt' }).delete()
    await addFile('bot_a', 'first.txt', [0, 60, 120], 'm', { area: 'one' })
    await addFile('bot_a', 'second.txt', [20, 200], 'm', { area: 'two' })
    await addFile('bot_a', 'other-model.txt', [5], 'n')
    await addFile('bot_b', 'foreign.txt', [3], 'm')
  }, 120_000)
  afterAll(async () => {
    await db.destroy()
    await database.drop()
  })

  async function addFile(botId: string, key: string, degrees: number[], model: string, tags = {}) {
    const id = newId('file')
    const status = 'indexing_completed'
    await db('files').insert({ id, bot_id: botId, key, content_type: 'text/plain', status, tags } as object)
    const passages = degrees.map((each) => ({ subtype: 'paragraph', text: `${key} ${each}`, breadcrumb: [] }))
    await insertPassages(db, { fileId: id, botId, generation: 0, first: 0, language: null }, passages)
    const ids = await db('passages').where({ file_id: id }).orderBy('position').pluck('id')
    await saveVectors(
      db,
      model,
      degrees.map((each, index) => ({ passageId: ids[index]!, vector: at(each) })),
    )
  }

  const nearest = async (degrees: number, { model = 'm', tags = [] as never[], held = memory } = {}) =>
    (await nearestPassages(db, { botId: 'bot_a' }, tags, { model, vector: at(degrees), memory: held }))?.map(
      ({ text, score }) => [text, Number(score.toFixed(3))],
    )

  test('are compared by the database where it can', async () => {
    expect(await hasVectorType(db)).toBe(hasVectors)
    expect(await adoptVectorType(db)).toBe(hasVectors)
  })

  test('order the passages of a bot by similarity, those of the model only', async () => {
    expect(await nearest(0)).toEqual([
      ['first.txt 0', 1],
      ['second.txt 20', 0.94],
      ['first.txt 60', 0.5],
      expect.arrayContaining([0]),
      expect.arrayContaining([0]),
    ])
    expect(await nearest(0, { model: 'n' })).toEqual([['other-model.txt 5', 0.996]])
    expect(await nearest(0, { model: 'unknown' })).toEqual([])
  })

  test('order those with the tags only', async () => {
    const tags = [{ tag: 'area', anyOf: ['two'] }] as never[]
    expect((await nearest(0, { tags }))?.map(([text]) => text)).toEqual(['second.txt 20', 'second.txt 200'])
  })

  test('are of deleted passages no longer, and of new ones at once', async () => {
    await addFile('bot_a', 'third.txt', [1], 'm')
    expect((await nearest(0))?.[1]).toEqual(['third.txt 1', 1])
    await db('files').where({ key: 'third.txt' }).delete()
    expect((await nearest(0))?.[1]).toEqual(['second.txt 20', 0.94])
  })

  test('are left out where a process may not hold them all', async () => {
    const found = await nearest(0, { held: openVectorMemory(500) })
    expect(found?.length).toBe(hasVectors ? 5 : undefined)
  })
})
