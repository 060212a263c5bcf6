import type { Command } from 'commander'
import type { DryRunFetch } from '../dry-run/host.ts'
import { exitCodes, misused } from '../failure.ts'
import { toolsOf } from '../tools.ts'

interface RunOptions {
  answers?: string
  allowFetch?: boolean
}

export function addRunCommand(program: Command): void {
  program
    .command('run')
    .summary('run one hook, or a conversation, in a local isolate')
    .description(
      'Runs one hook or action in an isolate on this machine. Its calls of the platform are printed, not carried out: ' +
        'their answers come from --answers, from the bot’s own actions, or from the examples of the ' +
        'documentation. States last for the run, and lists are empty. Secrets come from the ' +
        'environment, as SECRET_<NAME>. The exit code is 1 when the hook fails, or a step of the conversation.',
    )
    .argument('<bot>', 'a project’s folder, a file, or a deployed bot by its id or name')
    .argument('<hook>', 'the name of a hook, actions.<name>, or conversation')
    .argument(
      '<file>',
      'the whole event or a part of it as JSON, as `isobot events BOT show ID --json` prints it; or an action’s input; or a conversation; - for standard input',
    )
    .option('--answers <file>', 'JSON with the answers by operation; a list has the answers of successive calls')
    .option('--allow-fetch', 'send requests without a given answer, from this machine and to any host it can reach')
    .addHelpText(
      'after',
      `
Examples:
  $ isobot run . afterIncomingMessage events/message.json
  $ isobot events greeter show evt_… --json | isobot run . afterIncomingMessage -
  $ isobot run . actions.greet input.json --answers answers.json
  $ isobot run . conversation talk.json

A conversation, through hooks and flows:
  { "state": { "user": { "name": "Ada" } },
    "steps": ["hi", { "say": { "text": "Tea", "value": "tea" } }, { "timeout": "now" },
      { "start": "order/size", "workflow": { "drink": "tea" }, "temp": {} },
      { "receive": { "type": "order_shipped", "payload": {} } }, { "resume": "now" }] }

Answers:
  { "getUser": { "user": { "id": "user_1", "tags": {} } },
    "createMessage": { "error": "ReferenceNotFound" },
    "fetch": { "GET https://api.example.com/orders": { "status": 200, "body": [] } } }
`,
    )
    .action(async (bot: string, hook: string, file: string, options: RunOptions, command: Command) => {
      const { output, connect } = toolsOf(command)
      const [{ openDryRun }, { findCode }, { showResult }, { runTalk, showTalk, toTalk }] = await Promise.all([
        import('../dry-run/dry-run.ts'),
        import('../dry-run/find-code.ts'),
        import('../dry-run/show-result.ts'),
        import('../dry-run/talk.ts'),
      ])
      const given = await readJson(file)
      const answers = options.answers === undefined ? {} : await readJson(options.answers)
      const code = await findCode(bot, connect)
      await using trial = await openDryRun(code, secretsOf(process.env))
      const dryRunOptions = { answers, allowsFetch: options.allowFetch ?? false }
      let status: string
      if (hook === 'conversation') {
        const file = toTalk(given)
        const talk = await runTalk(trial.openConversation({ ...dryRunOptions, state: file.state }), file.steps)
        const steps = talk.steps.map(withoutHeaders)
        output.result({ ...talk, steps }, () => showTalk(talk))
        ;({ status } = talk)
      } else {
        const result = await trial.run(hook, given, dryRunOptions)
        output.result(withoutHeaders(result), () => showResult(result))
        ;({ status } = result)
      }
      if (status === 'failed') process.exitCode = exitCodes.failed
    })
}

/** Headers of requests may have secrets, which belong in no log of a terminal or of a build. */
function withoutHeaders<Result extends { fetches: DryRunFetch[] }>(result: Result) {
  return { ...result, fetches: result.fetches.map(({ headers: _headers, ...shown }) => shown) }
}

async function readJson(file: string): Promise<Record<string, unknown>> {
  const [{ readFile }, { text }, { parseJson }] = await Promise.all([
    import('node:fs/promises'),
    import('node:stream/consumers'),
    import('../parse-json.ts'),
  ])
  try {
    const content = parseJson(file === '-' ? await text(process.stdin) : await readFile(file, 'utf8'))
    if (typeof content === 'object' && content !== null && !Array.isArray(content))
      return content as Record<string, unknown>
  } catch (cause) {
    throw misused(`${file} cannot be read as JSON: ${(cause as Error).message}`, { cause })
  }
  throw misused(`${file} must contain a JSON object`)
}

function secretsOf(environment: NodeJS.ProcessEnv): Record<string, string> {
  const secrets = Object.entries(environment).filter(([name]) => name.startsWith('SECRET_'))
  return Object.fromEntries(secrets) as Record<string, string>
}
