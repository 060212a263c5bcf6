import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { moduleOf, type Hostile } from './hostile.ts'

const categories = ['escapes', 'exhaustion', 'forgery']

let files: { category: string; file: string; idea: Hostile }[]
beforeAll(async () => {
  const folders = categories.map(async (category) => {
    const names = await readdir(join(import.meta.dirname, category))
    return Promise.all(names.map(async (file) => ({ category, file, idea: await read(category, file) })))
  })
  files = (await Promise.all(folders)).flat()
})

async function read(category: string, file: string): Promise<Hostile> {
  const { default: idea } = (await import(join(import.meta.dirname, category, file))) as { default: Hostile }
  return idea
}

describe('the hostile suite', () => {
  test('has these categories, and tries each', async () => {
    const entries = await readdir(import.meta.dirname, { withFileTypes: true })
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
    expect(folders.toSorted()).toEqual(categories)
    for (const category of categories) {
      expect(await readFile(join(import.meta.dirname, `${category}.test.ts`), 'utf8')).toContain(
        `runIdeas('${category}'`,
      )
    }
  })

  test('is one idea for each file, which is named for it', () => {
    const empty = moduleOf({ outcome: 'done' })
    const strange = files.filter(
      ({ file, idea }) => !/^[a-z]+(-[a-z]+)+\.ts$/.test(file) || !idea.outcome || moduleOf(idea) === empty,
    )
    expect(strange.map(({ file }) => file)).toEqual([])
  })

  test('has no idea twice', () => {
    const modules = Map.groupBy(files, ({ idea }) => JSON.stringify([moduleOf(idea), idea.upload]))
    const twice = [...modules.values()].filter(({ length }) => length > 1)
    expect(twice.map((same) => same.map(({ file }) => file))).toEqual([])
    expect(new Set(files.map(({ file }) => file)).size).toBe(files.length)
  })

  test('says of each idea what comes of it: what is done, what fails and with which words', () => {
    const vague = files.filter(({ idea }) => idea.outcome !== 'done' && idea.failure === undefined)
    const silent = files.filter(({ idea }) => idea.outcome === 'done' && !idea.replies && !idea.logs)
    expect([...vague, ...silent].map(({ file }) => file)).toEqual([])
  })

  test('has many', () => {
    const trespasses = files.filter(({ category }) => category !== 'exhaustion')
    expect(trespasses.length).toBeGreaterThanOrEqual(45)
    expect(files.length).toBeGreaterThanOrEqual(80)
  })
})
