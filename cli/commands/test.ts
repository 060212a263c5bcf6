import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import type { Command } from 'commander'
import { misused } from '../failure.ts'
import { commonOptionsOf } from '../tools.ts'

export function addTestCommand(program: Command): void {
  program
    .command('test')
    .summary('run the tests of a bot’s project')
    .description(
      'Runs the files test/**/*.test.ts (or .js) of a bot’s project with Node’s own test runner, in which ' +
        '`import { openBot } from "isobot/test"` opens the bot in an isolate. The exit code is 1 when a test fails.',
    )
    .argument('[files...]', 'the tests to run, instead of all')
    .addHelpText('after', '\nExample:\n  $ isobot test test/index.test.ts\n')
    .action(async (files: string[], _options: object, command: Command) => {
      if (commonOptionsOf(command).json) throw misused('`isobot test` prints no JSON: omit --json')
      const [{ refreshPlatformFiles }, { openProject }] = await Promise.all([
        import('../project/platform-files.ts'),
        import('../project/project.ts'),
      ])
      const { folder } = await openProject('.')
      await refreshPlatformFiles(folder)
      // Relative to the project: in a pattern, signs in the path of its folder would have a meaning.
      const [patterns, cwd] = files.length > 0 ? [files, process.cwd()] : [['test/**/*.test.{ts,js}'], folder]
      const environment = { ...process.env, NODE_COMPILE_CACHE: getCompileCacheDir() }
      const runner = spawn(process.execPath, ['--test', ...patterns], { stdio: 'inherit', env: environment, cwd })
      const [code] = (await once(runner, 'exit')) as [number | null]
      process.exitCode = code ?? 1
    })
}
