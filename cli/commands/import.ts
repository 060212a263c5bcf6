import { relative } from 'node:path'
import type { Command } from 'commander'
import { toolsOf } from '../tools.ts'

export function addImportCommand(program: Command): void {
  const importing = program
    .command('import')
    .summary('make projects of bots of other platforms')
    .description('Makes projects of bots of other platforms.')
    .addHelpText('after', '\nExample:\n  $ isobot import v12 my-bot.tgz --out my-bot\n')
  importing
    .command('v12')
    .summary('make projects of bots of Botpress v12')
    .description(
      'Reads an export of Botpress v12: an archive (.tgz), the folder of a bot, or a data folder with several bots. Writes ' +
        'a project for each bot, with its flows, actions and hooks, and a REPORT.md that names every element that was not ' +
        'carried. Deploys nothing.',
    )
    .argument('<path>', 'the archive or the folder')
    .option('--out <folder>', 'the folder of the project; of several, the folder with theirs')
    .addHelpText('after', '\nExample:\n  $ isobot import v12 my-bot.tgz --out my-bot && cd my-bot && isobot deploy\n')
    .action(async (path: string, options: { out?: string }, command: Command) => {
      const { output } = toolsOf(command)
      const { convertExport, writeProjects } = await import('../import/v12/import.ts')
      const projects = await convertExport(path)
      const folders = await writeProjects(projects, options.out)
      const made = projects.map(({ id, name, totals }, index) => ({ id, name, folder: folders[index]!, ...totals }))
      output.result({ bots: made }, () =>
        made
          .map(({ name, folder, flows, authorNodes, wholeNodes, lost }) => {
            const where = relative(process.cwd(), folder) || '.'
            return (
              `The bot "${name}" is in ${where}: ${flows} flows, ${wholeNodes} of ${authorNodes} nodes carried completely, ` +
              `${lost} elements not carried (${where}/REPORT.md)\n`
            )
          })
          .join(''),
      )
    })
}
