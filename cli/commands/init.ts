import { relative } from 'node:path'
import type { Command } from 'commander'
import { toolsOf } from '../tools.ts'

export function addInitCommand(program: Command): void {
  program
    .command('init')
    .summary('make a bot’s project: source, types, a test')
    .description('Makes the project of a new bot in a new folder: a hook, an action, their types, and a test.')
    .argument('<name>', 'the bot’s name, which is the folder’s; or a path that ends with it')
    .addHelpText('after', '\nExample:\n  $ isobot init greeter && cd greeter && npm test\n')
    .action(async (name: string, _options: object, command: Command) => {
      const { output } = toolsOf(command)
      const { initProject } = await import('../project/init.ts')
      const made = await initProject(name)
      output.result(made, () => {
        const path = relative(process.cwd(), made.folder) || '.'
        return (
          `The bot "${made.name}" is in ${path}: ${made.files.filter((file) => file !== 'node_modules').join(', ')}\n\n` +
          `  cd ${path}\n` +
          '  npm run dev     deploys it here with every change, and talks to it\n' +
          '  npm test        runs its tests\n'
        )
      })
    })
}
