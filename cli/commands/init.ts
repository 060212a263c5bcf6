import { relative } from 'node:path'
import type { Command } from 'commander'
import { listExamples, toExampleName } from '../project/project-examples.ts'
import { toolsOf } from '../tools.ts'

export function addInitCommand(program: Command): void {
  program
    .command('init')
    .summary('create a bot’s project: source, types, a test')
    .description('Creates the project of a new bot in a new folder: a hook, an action, their types, and a test.')
    .argument('<name>', 'the name of the bot and the folder, or a path that ends with it')
    .option('--example <name>', 'begin as one of the examples below')
    .addHelpText(
      'after',
      () =>
        '\nExample:\n  $ isobot init greeter && cd greeter && npm test\n  $ isobot init shop --example faq\n\n' +
        `Examples to begin with:\n${listExamples()}\n`,
    )
    .action(async (name: string, options: { example?: string }, command: Command) => {
      const { output } = toolsOf(command)
      const example = options.example === undefined ? undefined : toExampleName(options.example)
      const { initProject } = await import('../project/init.ts')
      const made = await initProject(name, example)
      output.result(made, () => {
        const path = relative(process.cwd(), made.folder) || '.'
        return (
          `The bot "${made.name}" is in ${path}: ${made.files.filter((file) => file !== 'node_modules').join(', ')}\n\n` +
          `  cd ${path}\n` +
          (made.isInstalled ? '' : '  npm install     installs the command line that the scripts run\n') +
          '  npm run dev     deploys the bot here at each change, and talks to it\n' +
          '  npm test        runs the bot’s tests\n' +
          (example === undefined ? '' : `  README.md       describes the example ${example}\n`)
        )
      })
    })
}
