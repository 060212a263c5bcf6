import type { Command } from 'commander'
import { exitCodes, misused } from '../failure.ts'
import { toolsOf } from '../tools.ts'

interface RunOptions {
  answers?: string
  allowFetch?: boolean
}

export function addRunCommand(program: Command): void {
  program
    .command('run')
    .summary('run one hook on a recorded event, here, in an isolate')
    .description(
      'Runs one hook or action in an isolate on this machine. What it asks of the platform is not carried out but ' +
        'printed: answers are those of --answers, what the bot’s own actions return, or made up from the examples of the ' +
        'documentation. States are kept for the time of the run, and lists are empty. Secrets are taken from the ' +
        'environment, as SECRET_<NAME>. The exit code is 1 when the hook fails.',
    )
    .argument('<bot>', 'a project’s folder, a file, or a deployed bot by its id or name')
    .argument('<hook>', 'the name of a hook, or actions.<name>')
    .argument(
      '<file>',
      'the event as JSON, whole or in part, as `isobot events BOT show ID --json` prints it; an action’s input; - for standard input',
    )
    .option(
      '--answers <file>',
      'JSON: by operation, what its calls are answered; a list answers one call after another',
    )
    .option(
      '--allow-fetch',
      'make the requests for which there are no answers, from this machine: whatever it can reach',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ isobot run . afterIncomingMessage events/message.json
  $ isobot events greeter show evt_… --json | isobot run . afterIncomingMessage -
  $ isobot run . actions.greet input.json --answers answers.json

Answers:
  { "getUser": { "user": { "id": "user_1", "tags": {} } },
    "createMessage": { "error": "ReferenceNotFound" },
    "fetch": { "GET https://api.example.com/orders": { "status": 200, "body": [] } } }
`,
    )
    .action(async (bot: string, hook: string, file: string, options: RunOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ openDryRun }, { findCode }, { showResult }] = await Promise.all([
        import('../dry-run/dry-run.ts'),
        import('../dry-run/find-code.ts'),
        import('../dry-run/show-result.ts'),
      ])
      const given = await readJson(file)
      const answers = options.answers === undefined ? {} : await readJson(options.answers)
      const code = await findCode(bot, connect)
      await using trial = await openDryRun(code, secretsOf(process.env))
      const result = await trial.run(hook, given, { answers, allowsFetch: options.allowFetch ?? false })
      output.result(result, () => showResult(result))
      if (result.status === 'failed') process.exitCode = exitCodes.failed
    })
}

async function readJson(file: string): Promise<Record<string, unknown>> {
  const [{ readFile }, { text }] = await Promise.all([import('node:fs/promises'), import('node:stream/consumers')])
  try {
    const content = JSON.parse(file === '-' ? await text(process.stdin) : await readFile(file, 'utf8')) as unknown
    if (typeof content === 'object' && content !== null && !Array.isArray(content))
      return content as Record<string, unknown>
  } catch (cause) {
    throw misused(`${file} cannot be read as JSON: ${(cause as Error).message}`, { cause })
  }
  throw misused(`${file} is to hold a JSON object`)
}

function secretsOf(environment: NodeJS.ProcessEnv): Record<string, string> {
  const secrets = Object.entries(environment).filter(([name]) => name.startsWith('SECRET_'))
  return Object.fromEntries(secrets) as Record<string, string>
}
