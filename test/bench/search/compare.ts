import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { startEmbeddings } from '../../support/embeddings-endpoint.ts'
import { startFileHost, type FileHost } from '../isobot.ts'
import { round, table } from '../report.ts'
import type { Servers } from '../servers.ts'
import { percentile } from '../statistics.ts'
import type { SystemOptions } from '../system.ts'
import { questions } from './questions.ts'

const pages = join(import.meta.dirname, '..', '..', '..', 'docs')

const passageCount = 10_000
const passagesOfFile = 1000
const searches = 200
const targetMilliseconds = 100
/** Results of a question among which its answer is looked for. */
const resultCount = 5

interface Measured {
  /** Seconds in which the worker indexed all passages. */
  indexed: number
  /** Milliseconds of each search, from the shortest. */
  sorted: number[]
  words: Answers
  /** With vectors of a small model. */
  vectors: Answers & { indexed: number; sorted: number[] }
}

interface Answers {
  /** Number of questions whose first results have a passage below the right heading, and of the right page. */
  found: { heading: number; page: number }
  missed: string[]
}

interface Result {
  file: { key: string }
  context: { text: string; type: string }[]
}

/** Measures indexing and searches, over HTTP: of 10,000 generated passages, and of questions over our documentation. */
export async function measureSearch(servers: Servers): Promise<Measured> {
  await using parts = new AsyncDisposableStack()
  const options: SystemOptions = { servers, backEnd: 'postgres', conversations: 0, nodeOptions: [], parts }
  const host = await startFileHost('search', options, {}, { worker: true })
  const documentation = await indexDocumentation(host)
  const before = performance.now()
  const files = Array.from({ length: passageCount / passagesOfFile }, (_, index) => documentAt(index))
  await index(host, new Map(files.map((text, index) => [`generated/${index}.md`, text])), { collection: 'generated' })
  const indexed = (performance.now() - before) / 1000
  await servers.postgres.settle(host.databaseUrl)
  const sorted = await timeSearches(host)
  const words = await askQuestions(host, documentation)
  return { indexed, sorted, words, vectors: await measureVectors(options) }
}

/** The questions again, with vectors; the model runs in this process. */
async function measureVectors(options: SystemOptions): Promise<Measured['vectors']> {
  const endpoint = options.parts.use(await startEmbeddings())
  const host = await startFileHost('search_vectors', options, endpoint.environment, { worker: true })
  const before = performance.now()
  const documentation = await indexDocumentation(host)
  await untilEmbedded(host)
  const indexed = (performance.now() - before) / 1000
  const sorted: number[] = []
  const answers = await askQuestions(host, documentation, sorted)
  return { ...answers, indexed, sorted: sorted.toSorted((a, b) => a - b) }
}

async function untilEmbedded({ databaseUrl }: FileHost): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    for (;;) {
      const { rows } = await client.query('select from files where embedded_model is null limit 1')
      if (rows.length === 0) return
      await pause(200)
    }
  } finally {
    await client.end()
  }
}

/** @returns the tags of its files */
export async function indexDocumentation(host: FileHost): Promise<Record<string, string>> {
  const tags = { collection: 'documentation' }
  const names = (await readdir(pages)).filter((name) => name.endsWith('.md'))
  const texts = await Promise.all(names.map(async (name) => [name, await readFile(join(pages, name), 'utf8')] as const))
  await index(host, new Map(texts), tags)
  return tags
}

function toQuery(tags: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [`tags[${name}]`, value]))
}

/** Uploads files, and waits until all are indexed. */
async function index(host: FileHost, texts: Map<string, string>, tags: Record<string, string>): Promise<void> {
  for (const [key, text] of texts) {
    const uploadUrl = await host.createFile(key, { index: true, tags })
    const { status } = await fetch(uploadUrl, { method: 'PUT', body: text })
    if (status !== 200) throw new Error(`An upload was answered with ${status}`)
  }
  const query = new URLSearchParams({ ...toQuery(tags), pageSize: '100' })
  for (;;) {
    const { files } = await host.ask<{ files: { key: string; status: string }[] }>(`/v1/files?${query.toString()}`)
    const failed = files.find(({ status }) => status === 'indexing_failed')
    if (failed) throw new Error(`The file ${failed.key} was not indexed`)
    if (files.filter(({ status }) => status === 'indexing_completed').length === texts.size) return
    await pause(100)
  }
}

/** A document of passages of about 300 characters, in words of which some are frequent and most are rare. */
function documentAt(index: number): string {
  const paragraphs = Array.from({ length: passagesOfFile }, (_, paragraph) =>
    Array.from({ length: 45 }, (_, word) => wordAt((index * passagesOfFile + paragraph) * 45 + word)).join(' '),
  )
  return paragraphs.map((text, number) => `# Part ${number}\n\n${text}.`).join('\n\n')
}

/** Zipf's distribution from the 50th rank on: the words above it are stop words, which are not searched. */
function wordAt(position: number): string {
  const share = ((position * 7919) % 100_003) / 100_003
  const rank = Math.floor(50 * 400 ** share)
  return `w${((rank * 48_271) % 2_147_483_647).toString(36)}`
}

async function timeSearches(host: FileHost): Promise<number[]> {
  const taken: number[] = []
  for (let repetition = 0; repetition <= searches; repetition++) {
    const words = Array.from({ length: 6 }, (_, index) => wordAt(repetition * 6007 + index * 101))
    const begin = performance.now()
    const { passages } = await search(host, words.join(' '), { 'tags[collection]': 'generated' })
    if (passages.length === 0) throw new Error(`Nothing was found for ${words.join(' ')}`)
    // The first one is not counted: it opens connections.
    if (repetition > 0) taken.push(performance.now() - begin)
  }
  return taken.toSorted((a, b) => a - b)
}

/** @param taken gets the milliseconds of each */
async function askQuestions(host: FileHost, tags: Record<string, string>, taken: number[] = []): Promise<Answers> {
  const found = { heading: 0, page: 0 }
  const missed: string[] = []
  for (const [question, page, heading] of questions) {
    const begin = performance.now()
    const { passages } = await search(host, question, { ...toQuery(tags), limit: String(resultCount) })
    taken.push(performance.now() - begin)
    const ofPage = passages.filter(({ file }) => file.key === page)
    const isBelow = ({ context }: Result) => context.some(({ text, type }) => type === 'breadcrumb' && text === heading)
    if (ofPage.length > 0) found.page += 1
    if (ofPage.some(isBelow)) found.heading += 1
    else missed.push(question)
  }
  return { found, missed }
}

function search(host: FileHost, query: string, fields: Record<string, string>): Promise<{ passages: Result[] }> {
  const asked = new URLSearchParams({ query, includeBreadcrumb: 'true', withContext: 'true', ...fields })
  return host.ask(`/v1/files/search?${asked.toString()}`)
}

/** One line on the load. */
export function describeSearch({ indexed }: Measured): string {
  return (
    `${passageCount} passages in ${passageCount / passagesOfFile} files, uploaded and indexed by one worker in ` +
    `${round(indexed)} s; ${searches} searches of six words over HTTP, one at a time; ${questions.length} questions over ` +
    'the pages in docs/'
  )
}

/** Makes the Markdown tables. */
export function searchTables({ sorted, words, vectors }: Measured): string[] {
  return [
    table(
      ['search', 'p50 ms', 'p95 ms', 'slowest ms', 'aim, p95 ms'],
      [
        [
          'six words',
          round(percentile(sorted, 50)),
          round(percentile(sorted, 95)),
          round(sorted.at(-1)!),
          `≤ ${targetMilliseconds}`,
        ],
      ],
    ),
    table(
      ['answer among the first five', 'recall@5, words', 'recall@5, words and vectors'],
      [
        ['passage below the right heading', toShare(words.found.heading), toShare(vectors.found.heading)],
        ['passage of the right page', toShare(words.found.page), toShare(vectors.found.page)],
      ],
    ),
    `By words, no passage below the right heading for: ${words.missed.join(' ')}`,
    `With vectors: ${vectors.missed.join(' ')}`,
    `With vectors, the pages were indexed in ${round(vectors.indexed)} s, and a search took ${round(percentile(vectors.sorted, 50))} ms ` +
      `(p95 ${round(percentile(vectors.sorted, 95))} ms), of which the model takes the most`,
  ]
}

function toShare(count: number): string {
  return (count / questions.length).toFixed(2)
}
