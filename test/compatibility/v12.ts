import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { findBots } from '../../cli/import/v12/bots.ts'
import { convertBot, type ImportedProject } from '../../cli/import/v12/project.ts'
import { readSource } from '../../cli/import/v12/source.ts'
import { recognise, type Recognition } from './recognition.ts'
import { talkThrough, type Talk } from './talk-through.ts'
import { transcripts } from './transcripts.ts'
import { checkFlows } from '#shared/flows/check-flows.ts'
import { writeFlowScript } from '#shared/flows/flow-script.ts'

const page = new URL('../../docs/coming-from-v12.md', import.meta.url)
const begin = '<!-- measured -->'
const end = '<!-- /measured -->'

interface Row {
  name: string
  project: ImportedProject
  loads: boolean
  recognition: Recognition
}

/**
 * Imports every export of a folder, prints a table, and writes it into the documentation.
 *
 * @param source a folder with a folder or an archive for each export
 */
export async function measureV12(source: string, writes: boolean): Promise<void> {
  const rows: Row[] = []
  const seen = new Set<string>()
  const talks = new Map<string, Talk>()
  for (const entry of (await readdir(source)).toSorted()) {
    for (const bot of findBots(await readSource(join(source, entry)))) {
      const project = await convertBot(bot)
      const known = entry.startsWith('botpress+v12') ? transcripts[bot.id] : undefined
      if (known) talks.set(bot.id, await talkThrough(project, bot, known))
      // Repositories hold copies of each other's bots, and of templates.
      const content = JSON.stringify(project.flows)
      if (seen.has(content)) continue
      seen.add(content)
      const name = `${entry.replace('+', '/')}: ${project.id}`
      // Other repositories hold the same examples for other flows.
      const examples = JSON.stringify([bot.intents, bot.qna].map((list) => list.map(({ fields }) => fields)))
      const recognition = seen.has(examples) ? { examples: 0, right: 0, wrong: 0 } : recognise(bot)
      seen.add(examples)
      rows.push({ name, project, loads: await loads(project), recognition })
    }
  }
  const table = `${writeTable(rows)}\n\n${writeTalks(talks)}\n\n${writeRecognition(rows)}`
  console.log(table)
  for (const [id, { faults }] of talks) for (const fault of faults) console.error(`${id}: ${fault}`)
  if (!writes) return
  const text = await readFile(page, 'utf8')
  const before = text.slice(0, text.indexOf(begin) + begin.length)
  await writeFile(page, `${before}\n\n${table}\n\n${text.slice(text.indexOf(end))}`)
}

/** Whether the platform accepts the flows: they are valid, and their expressions and code cards compile. */
async function loads({ flows, name }: ImportedProject): Promise<boolean> {
  try {
    checkFlows(flows)
    await transform(`export default ${writeFlowScript(flows).text}`, { loader: 'ts', format: 'esm' })
    return true
  } catch (error) {
    console.error(`${name} does not load: ${(error as Error).message}`)
    return false
  }
}

function writeTable(rows: readonly Row[]): string {
  const sum = (read: (row: Row) => number) => rows.reduce((total, row) => total + read(row), 0)
  const authored = sum(({ project }) => project.totals.authorNodes)
  const whole = sum(({ project }) => project.totals.wholeNodes)
  const complete = rows.filter(({ project }) => project.totals.lost === 0).length
  return [
    `${new Date().toISOString().slice(0, 10)}: ${rows.length} bots, ${rows.filter((row) => row.loads).length} of which load; ` +
      `${whole} of ${authored} nodes (${share(whole, authored)}) carried completely; ${complete} bots complete.`,
    '',
    '| Bot | Flows | Nodes | Carried completely | Elements not carried | Loads |',
    '| --- | ---: | ---: | ---: | ---: | --- |',
    ...rows.map(({ name, project: { totals }, loads: isLoaded }) => {
      const { flows, authorNodes, wholeNodes, lost } = totals
      return `| ${name.replaceAll('|', ' ')} | ${flows} | ${authorNodes} | ${wholeNodes} | ${lost} | ${isLoaded ? 'yes' : 'no'} |`
    }),
  ].join('\n')
}

function writeTalks(talks: Map<string, Talk>): string {
  return [
    '| Template | Turns of the transcripts | As the original | Different as reported | Otherwise |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...Array.from(
      talks,
      ([id, { turns, equal, reported, faults }]) => `| ${id} | ${turns} | ${equal} | ${reported} | ${faults.length} |`,
    ),
  ].join('\n')
}

function writeRecognition(rows: readonly Row[]): string {
  const tried = rows.filter(({ recognition: { examples } }) => examples > 0)
  const sum = (read: (each: Recognition) => number) => tried.reduce((total, row) => total + read(row.recognition), 0)
  const count = sum(({ examples }) => examples)
  return [
    `Examples of intents and questions that are recognised when they are left out: ${share(
      sum(({ right }) => right),
      count,
    )} of ${count} rightly, ${share(
      sum(({ wrong }) => wrong),
      count,
    )} as another intent.`,
    '',
    '| Bot | Examples | Rightly | As another intent |',
    '| --- | ---: | ---: | ---: |',
    ...tried.map(({ name, recognition: { examples, right, wrong } }) => {
      return `| ${name.replaceAll('|', ' ')} | ${examples} | ${share(right, examples)} | ${share(wrong, examples)} |`
    }),
  ].join('\n')
}

function share(part: number, whole: number): string {
  return `${((part / whole) * 100).toFixed(1)} %`
}
