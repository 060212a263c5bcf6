import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { convertExport } from '../../cli/import/v12/import.ts'
import type { ImportedProject } from '../../cli/import/v12/project.ts'
import { checkFlows } from '#shared/flows/check-flows.ts'
import { writeFlowScript } from '#shared/flows/flow-script.ts'

const page = new URL('../../docs/coming-from-v12.md', import.meta.url)
const begin = '<!-- measured -->'
const end = '<!-- /measured -->'

interface Row {
  name: string
  project: ImportedProject
  loads: boolean
}

/**
 * Imports every export of a folder, prints a table, and writes it into the documentation.
 *
 * @param source a folder with a folder or an archive for each export
 */
export async function measureV12(source: string, writes: boolean): Promise<void> {
  const rows: Row[] = []
  const seen = new Set<string>()
  for (const entry of (await readdir(source)).toSorted()) {
    for (const project of await convertExport(join(source, entry))) {
      // Repositories hold copies of each other's bots, and of templates.
      const content = JSON.stringify(project.flows)
      if (seen.has(content)) continue
      seen.add(content)
      rows.push({ name: `${entry.replace('+', '/')}: ${project.id}`, project, loads: await loads(project) })
    }
  }
  const table = writeTable(rows)
  console.log(table)
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
  const authored = sum(({ project }) => project.figures.authorNodes)
  const whole = sum(({ project }) => project.figures.wholeNodes)
  const complete = rows.filter(({ project }) => project.figures.lost === 0).length
  const share = ((whole / authored) * 100).toFixed(1)
  return [
    `${new Date().toISOString().slice(0, 10)}: ${rows.length} bots, ${rows.filter((row) => row.loads).length} of which load; ` +
      `${whole} of ${authored} nodes (${share} %) carried completely; ${complete} bots complete.`,
    '',
    '| Bot | Flows | Nodes | Carried completely | Elements not carried | Loads |',
    '| --- | ---: | ---: | ---: | ---: | --- |',
    ...rows.map(({ name, project: { figures }, loads: isLoaded }) => {
      const { flows, authorNodes, wholeNodes, lost } = figures
      return `| ${name.replaceAll('|', ' ')} | ${flows} | ${authorNodes} | ${wholeNodes} | ${lost} | ${isLoaded ? 'yes' : 'no'} |`
    }),
  ].join('\n')
}
